"""Standard output: a terminal, a file, or a pipe whose reader may have ended."""

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
"""Width of the output without a terminal: wide, because a folded line cannot be searched."""


class Terminal(Console):
    """Standard output for people; if its reader ends, only the output ends, not the run.

    Args:
        soft_wrap: Whether lines stay as long as they are.
    """

    def __init__(self, *, soft_wrap: bool = False) -> None:
        narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
        super().__init__(highlight=False, emoji=False, soft_wrap=soft_wrap, width=None if narrow else WIDE)

    def show(self, table: Table) -> None:
        """Print a table; without a terminal its lines have no trailing blanks."""
        if self.is_terminal:
            self.print(table)
            return
        with self.capture() as shown:
            self.print(table)
        lines = [line.rstrip() for line in shown.get().splitlines()]
        self.print("\n".join(lines), markup=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Continue without a reader."""
        self.quiet = True
        hush()


def write_json(value: object) -> None:
    """Write a value as JSON."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


def note(sentence: str) -> None:
    """Print a note on standard error, so that standard output stays for machines."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    with suppress(OSError):  # if standard error is closed, the exit code must do
        errors.print(sentence, markup=False)


def told(sentence: str, code: Exit) -> Exit:
    """Print an error on standard error.

    Returns:
        The exit code, as given.
    """
    note(f"assay: {sentence}")
    return code


def open_missing_streams() -> None:
    """Put files that refuse every access in place of standard streams that are closed; call it once, at the start.

    Python has None there, and the next socket or file would get the closed stream's number, and with it the output of
    every program that writes to this number.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def unwritten(error: OSError) -> str:
    """Discard all later output, and return why standard output was not written, with what to do."""
    hush()
    if isinstance(error, BrokenPipeError):
        return "the program that reads standard output has ended: see that it reads to the end"
    if error.errno == errno.EBADF:
        return "standard output is closed: lead it to a file or a program"
    return f"standard output takes nothing more ({error.strerror}): make room, and try again"


def is_output_closed() -> bool:
    """Whether standard output is closed."""
    try:
        os.write(sys.stdout.fileno(), b"")
    except OSError as error:
        return error.errno == errno.EBADF
    return False


def is_output_full() -> bool:
    """Whether standard output cannot be written; if so, later output is discarded."""
    try:
        sys.stdout.flush()  # the refused output is still in the buffer and would be refused again
    except OSError:
        hush()  # Python would flush it once more at its end
        return True
    return False


def hush() -> None:
    """Discard all later output, because its reader has ended."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
