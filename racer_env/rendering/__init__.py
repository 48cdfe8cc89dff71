"""Drawing cars on their track with pygame, on plain surfaces: pictures need neither a display nor OpenGL."""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # before anything here imports pygame

HEADING, FOLLOW, WHOLE = "heading", "follow", "track"  # cameras
CAMERAS = (HEADING, FOLLOW, WHOLE)  # in the order of the page

DARK, LIGHT = "dark", "light"  # colours, as in colours.json
COLOURS = (DARK, LIGHT)
