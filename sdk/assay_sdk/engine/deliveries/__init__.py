"""Deliveries: how they reach a listener, how they are acknowledged, and when they are poison."""
