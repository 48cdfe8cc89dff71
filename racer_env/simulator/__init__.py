"""The embedded simulator, an exact and fast port of the game's engine."""
