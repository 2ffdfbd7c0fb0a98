"""Sockets, logins, connections and their sessions."""
