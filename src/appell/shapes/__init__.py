"""Shapes of robots, to be drawn: meshes and primitives of their files as triangles, stick figures where there are none.

Read visuals.py and mjcf.py (shapes of a file), files.py and meshes.py (triangles), skeleton.py and stick_figure.py
(robots without shapes), then drawable.py, which combines them.
"""
