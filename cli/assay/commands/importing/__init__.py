"""``assay import``: journals from the logs of any broker, for `assay judge`.

`command` reads the options, imports the logs (`assay.importing`) and prints the result.
"""

from assay.commands.importing.command import importing

__all__ = ["importing"]
