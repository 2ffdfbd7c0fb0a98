"""The state tables of the core: what each input does in each state, as data."""
