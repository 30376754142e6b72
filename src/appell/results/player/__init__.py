"""A run as one HTML file that plays it in 3-D, without a server or a network.

Read content.py (what is in the file) and page.py (how it is packed), then scene.js (drawing with WebGL), curves.js
and player.js (the page's controls).
"""
