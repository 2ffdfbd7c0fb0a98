"""``assay explain``: shows from the evidence of an earlier run why a rule's scenarios have their verdicts."""

from assay.commands.explain.command import explain, folders_of

__all__ = ["explain", "folders_of"]
