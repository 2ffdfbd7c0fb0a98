"""The command ``assay``."""
