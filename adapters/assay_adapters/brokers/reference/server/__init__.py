"""The reference broker as a server process of this machine."""
