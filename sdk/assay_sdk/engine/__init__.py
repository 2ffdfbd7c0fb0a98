"""The engine: JMS's semantics over the driver's commands and events, for every face.

Nothing here knows a protocol or a face.  `states` holds every state machine as a table; `operations` says how a call
that waits is written and run; `connection`, `session`, `producer` and `consumer` are the nouns of JMS; `batches` and
`listening` hand messages to listeners; `acknowledgement` is the table of acknowledgement modes; `checks` the table of
rules that the client itself enforces.
"""
