"""The engine: JMS's semantics over the driver's commands and events, for all faces.

The engine does not depend on protocols or faces.

* `states` has the state tables, `checks` the rules that the client enforces.
* `operations` runs calls that wait, which are generators.
* `connection` and `sessions` have JMS's connections, sessions, producers and consumers.
* `deliveries` has the received messages: acknowledgement modes, batches, and poison messages.
* `light` has the client of the MQ Light face.
"""
