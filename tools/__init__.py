"""What makes parts of the project from others of its parts; nothing of it is installed."""
