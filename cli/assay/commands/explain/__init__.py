"""``assay explain``: tells how a rule's scenarios came to their verdicts, from the evidence of an earlier run."""

from assay.commands.explain.command import explain, folders_of

__all__ = ["explain", "folders_of"]
