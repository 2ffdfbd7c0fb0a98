"""The invariants about subscribers that leave and return, about later subscribers, and about lost connections."""
