"""Frames: performatives read, checked, completed and written.

Pure functions and values, apart from the engine and from any socket.
"""
