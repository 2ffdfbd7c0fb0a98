"""The mark of a backend whose authors never ran its broker."""

NOT_RUN = (
    "Not run here by the authors of Assay: they had no IBM MQ, and tried this adapter only against the interface of "
    "the reference broker, so that a fail or an error may be a mistake of the adapter (docs/how-to/test-ibm-mq.md)."
)
"""The mark of the backend in ``assay backends`` and in reports."""
