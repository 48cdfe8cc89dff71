"""Drawing cars on their track with pygame, on plain surfaces: pictures need neither a display nor OpenGL."""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # before anything here imports pygame

WHOLE, FOLLOW = "track", "follow"  # cameras
CAMERAS = (WHOLE, FOLLOW)

DARK, LIGHT = "dark", "light"  # colours, as in colours.json
COLOURS = (DARK, LIGHT)
