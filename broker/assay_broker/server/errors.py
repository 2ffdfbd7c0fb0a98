"""Errors that stop a server; each error's text is a sentence for the administrator.

::

    ServerError
    ├── OptionsError     an option, or a file that it names, is not valid
    └── MachineError     an address or a folder is in use, the store is damaged, the disk is full
"""

from __future__ import annotations


class ServerError(Exception):
    """A server cannot run with its options on this machine.

    Args:
        text: A sentence that names the problem, its place and a remedy.
    """


class OptionsError(ServerError):
    """The options are invalid or contradict each other."""


class MachineError(ServerError):
    """The options are valid, but the machine does not allow them now."""
