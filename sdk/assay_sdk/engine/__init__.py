"""The engine: JMS's semantics over the driver's commands and events, for all faces.

The engine speaks no protocol, and imports no driver's code and no face.

* `states` has the state tables, `checks` the rules that the client enforces.
* `operations` runs calls that wait, which are generators.
* `connection` and `sessions` have JMS's connections, sessions, producers and consumers.
* `deliveries` has the received messages: acknowledgement modes, batches, and poison messages.
* `light` has the client of the MQ Light face.
"""
