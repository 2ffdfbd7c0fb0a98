"""The pytest modules that collect the kit's features, one for each topic."""
