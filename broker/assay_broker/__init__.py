"""The reference broker: pure core, stores, the shell that runs the core, servers, in-process driver, named defects."""
