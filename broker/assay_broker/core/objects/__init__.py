"""The objects of a queue manager: what kinds there are, what each is set to, and who may use it."""
