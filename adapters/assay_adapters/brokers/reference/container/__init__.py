"""The reference broker in a container."""
