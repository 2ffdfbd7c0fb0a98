"""Brokers under test, one package a product; each gives a `Backend` (`assay_adapters.ports.backend`)."""
