"""``assay import``: turns the logs of any broker into journals for `assay judge`.

`command` reads the options, imports the logs (`assay.importing`) and prints the result.
"""

from assay.commands.importing.command import importing

__all__ = ["importing"]
