"""From logs of a real robot to its parameters: reading and preparing logs, base parameters, excitation, fits."""
