"""Drivers for the game: ONNX files, written and checked."""
