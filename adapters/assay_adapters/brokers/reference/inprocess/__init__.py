"""The reference broker in this process, under a virtual clock."""
