"""What each page shows, as values: every decision is made here, the templates only lay out."""
