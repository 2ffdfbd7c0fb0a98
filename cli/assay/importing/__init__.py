"""The import of logs: turns the sends and receives that a log records into journals that `assay judge` reads.

`logs` reads the lines, `rows` turns each line into a row with the documented columns, `staging` sorts the rows on disk,
`needs` finds the rules that the log can decide, and `journals` writes the events.  `importer` calls them.
"""
