"""The suite: pytest plugin, step vocabulary, scenario modules, client defects."""
