"""Frames: performatives read, checked, completed and written, apart from the engine."""
