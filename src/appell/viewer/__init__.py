"""The browser viewer: a page for a robot, a page for a run.

Read view.py and server.py; scene.py (what is drawn); panel.py with drag.py (the page of a robot),
playback.py with contacts.py (the page of a run); overlays.py (both pages).
"""
