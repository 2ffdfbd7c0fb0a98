"""The state tables of the core, as data."""
