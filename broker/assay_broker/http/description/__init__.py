"""The table of operations, and the OpenAPI description that is made from the table."""
