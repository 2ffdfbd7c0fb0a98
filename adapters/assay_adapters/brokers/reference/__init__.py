"""The reference broker: in this process, as a server process, and in a container."""
