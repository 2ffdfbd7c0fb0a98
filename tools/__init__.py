"""Programs for the project's own development: they make pages from code and test the kit; they are not installed."""
