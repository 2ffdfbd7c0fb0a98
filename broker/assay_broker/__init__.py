"""The reference broker: a pure core, stores, the shell that runs it, an in-process driver, named defects."""
