"""Brokers under test: one package for each product, with its `Backend` (`assay_adapters.ports.backend`)."""
