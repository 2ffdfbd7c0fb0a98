"""The features as pytest modules, one a topic."""
