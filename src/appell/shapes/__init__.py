"""Shapes of robots, to be drawn: their models' shapes as triangles, stick figures where there are none.

Read meshes.py (triangles), skeleton.py and stick_figure.py (robots without shapes), then drawable.py, which combines
them.
"""
