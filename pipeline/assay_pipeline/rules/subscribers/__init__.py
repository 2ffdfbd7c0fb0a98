"""The invariants about subscribers that come, go and come again, and about connections that are lost."""
