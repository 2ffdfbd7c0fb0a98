"""The content of each page as values; templates only lay it out."""
