"""Delivery delay: what is staged, the processor that moves it, and what becomes of it."""
