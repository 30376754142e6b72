"""A run as one HTML file that plays it in 3-D, without a server or a network.

Read page.py, then scene.js (drawing with WebGL), curves.js and player.js (the page's controls).
"""
