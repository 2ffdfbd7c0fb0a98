"""The command's output to a terminal, a file or a pipe; also handles a pipe whose reader has ended."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

import msgspec
from rich.console import Console
from rich.table import Table

from assay.exits import Exit

WIDE = 160
"""The width of lines outside a terminal, in columns: wide, because a search does not find text across folded lines."""


class Terminal(Console):
    """Standard output for people; if the reader of a pipe ends, the output stops and the run continues.

    Args:
        soft_wrap: Whether long lines stay unbroken.
    """

    def __init__(self, *, soft_wrap: bool = False) -> None:
        narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
        super().__init__(highlight=False, emoji=False, soft_wrap=soft_wrap, width=None if narrow else WIDE)

    def show(self, table: Table) -> None:
        """Print a table; outside a terminal, without blanks at the ends of lines."""
        if self.is_terminal:
            self.print(table)
            return
        with self.capture() as shown:
            self.print(table)
        lines = [line.rstrip() for line in shown.get().splitlines()]
        self.print("\n".join(lines), markup=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Stop the output, because its reader has ended, and continue the run."""
        self.quiet = True
        hush()


def write_json(value: object) -> None:
    """Write a value to standard output as JSON."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


def note(sentence: str) -> None:
    """Print a note on standard error, because programs may read standard output."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    with suppress(OSError):  # without standard error, the exit code must suffice
        errors.print(sentence, markup=False)


def told(sentence: str, code: Exit) -> Exit:
    """Print an error on standard error, and return the given exit code."""
    note(f"assay: {sentence}")
    return code


def open_missing_streams() -> None:
    """Replace closed standard streams by files that refuse every access; call this once, at the start.

    For a closed stream Python has None, and the next opened socket or file gets the stream's number.  Programs that
    write to this number would then write into that socket or file.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def unwritten(error: OSError) -> str:
    """Discard all later output; return the reason why standard output cannot be written, with the remedy."""
    hush()
    if isinstance(error, BrokenPipeError):
        return "the program that reads standard output has ended: let it read to the end"
    if error.errno == errno.EBADF:
        return "standard output is closed: redirect it to a file or a program"
    return f"standard output cannot be written ({error.strerror}): free some space, and retry"


def is_output_closed() -> bool:
    """Return whether standard output is closed."""
    try:
        os.write(sys.stdout.fileno(), b"")
    except OSError as error:
        return error.errno == errno.EBADF
    return False


def is_output_full() -> bool:
    """Return whether standard output cannot be written; if so, discard all later output."""
    try:
        sys.stdout.flush()  # fails again if the buffer still holds output that was refused
    except OSError:
        hush()  # Python flushes once more at its end, which would fail again
        return True
    return False


def hush() -> None:
    """Discard all later output, because its reader has ended or it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
