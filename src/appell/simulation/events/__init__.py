"""Events located on the dense output of an integration step: read crossing.py (roots), then event_finder.py."""
