"""The table of operations, and the OpenAPI description made from it."""
