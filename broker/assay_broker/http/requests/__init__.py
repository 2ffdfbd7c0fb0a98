"""Requests: authentication, bodies, descriptors in headers, errors, and the connection to the queue manager."""
