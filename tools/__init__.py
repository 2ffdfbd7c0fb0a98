"""Programs that make parts of the project from other parts; they are not installed."""
