"""Why a server does not run; the text of each is one sentence for whoever started it.

::

    ServerError
    ├── OptionsError     what was asked for: an option, or a file that it names
    └── MachineError     the machine: an address or a folder that is in use, a damaged store, a full disk
"""

from __future__ import annotations


class ServerError(Exception):
    """A server cannot do what was asked.

    Args:
        text: What is wrong, where, and what to do.
    """


class OptionsError(ServerError):
    """What was asked for cannot be meant."""


class MachineError(ServerError):
    """What was asked for is right, and cannot be done on this machine now."""
