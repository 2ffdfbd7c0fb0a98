"""The engine: JMS's semantics over the driver's commands and events, for all faces.

The engine knows no protocol and no face.

* `states` has the state tables, `checks` the rules that the client enforces.
* `operations` defines how a waiting call is written and run.
* `connection` and `sessions` have JMS's connections, sessions, producers and consumers.
* `deliveries` passes messages to listeners; its `acknowledgement` is the table of acknowledgement modes.
* `light` is the client of the MQ Light face.
"""
