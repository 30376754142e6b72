"""Events located on the polynomial of an integration step: read crossing.py (roots), then event_finder.py."""
