"""The browser viewer: a page for a robot, a page for a run.

Read view.py, viewer.py and server.py, then scene.py, panel.py with sliders.py (a robot),
playback.py (a run); overlays.py adds ellipsoids and frames.
"""
