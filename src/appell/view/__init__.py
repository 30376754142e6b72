"""The browser viewer: robots to move by hand, runs to play, on a page of this machine alone."""
