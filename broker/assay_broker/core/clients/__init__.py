"""Connections, links and units of work of clients, from their beginning to their end."""
