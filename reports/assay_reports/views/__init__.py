"""The content of each page as values; the templates only arrange it."""
