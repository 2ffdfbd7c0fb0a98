"""The import of logs: turns the sends and receives that a log records into journals that `assay judge` reads.

`logs` reads the lines, `rows` turns each line into a row with the documented columns, `staging` sorts the rows on disk,
`journals` writes the events, and `needs` finds the rules that the log can decide.  `importer` calls them in this order.
"""
