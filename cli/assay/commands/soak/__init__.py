"""``assay soak``: puts load and faults on a broker for a chosen time.

`command` reads the options, runs the soak (`assay.soak`) and prints its result.
"""

from assay.commands.soak.command import soak

__all__ = ["soak"]
