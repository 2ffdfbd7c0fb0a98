"""Errors that stop a server; the text of each is one sentence for the administrator.

::

    ServerError
    ├── OptionsError     what was asked for: an option, or a file that it names
    └── MachineError     the machine: an address or a folder that is in use, a damaged store, a full disk
"""

from __future__ import annotations


class ServerError(Exception):
    """A server cannot run as asked.

    Args:
        text: What is wrong, where, and what to do.
    """


class OptionsError(ServerError):
    """The options are invalid or contradict each other."""


class MachineError(ServerError):
    """The options are valid, but cannot be carried out on this machine now."""
