"""The reference broker: its core, stores, shell, servers, in-process driver and named defects."""
