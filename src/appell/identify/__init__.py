"""Identification: logs, what motions can tell, motions that tell it, fits."""
