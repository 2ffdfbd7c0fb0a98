"""The soak run: seeded load and faults on a broker for a chosen time, in separate client processes.

The controller (`soak`) starts the broker, the producers and the consumers, and causes the planned faults.  Every
process writes its own journal.  A soak makes no claims: `assay judge` judges its journals by the catalogue's
invariants.
"""
