"""Standard output, whatever it is: a terminal, a file, or a pipe whose reader has gone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import msgspec
from rich.console import Console
from rich.table import Table

from assay.exits import Exit

WIDE = 160
"""Columns where there is no terminal: nobody scrolls sideways there, and a folded line cannot be searched."""


class Terminal(Console):
    """Standard output for people; a reader that goes away ends the output, not the run.

    Args:
        soft_wrap: Whether lines are left as long as they are.
    """

    def __init__(self, *, soft_wrap: bool = False) -> None:
        narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
        super().__init__(highlight=False, emoji=False, soft_wrap=soft_wrap, width=None if narrow else WIDE)

    def show(self, table: Table) -> None:
        """Print a table; without a terminal, no line of it ends in blanks."""
        if self.is_terminal:
            self.print(table)
            return
        with self.capture() as shown:
            self.print(table)
        lines = [line.rstrip() for line in shown.get().splitlines()]
        self.print("\n".join(lines), markup=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Go on without a reader."""
        self.quiet = True
        hush()


def write_json(value: object) -> None:
    """Write a machine form."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


def note(sentence: str) -> None:
    """Say something on standard error that is nothing wrong, so that standard output stays for machines."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    with suppress(OSError):  # where nobody can read it, the exit code still says something
        errors.print(sentence, markup=False)


def told(sentence: str, code: Exit) -> Exit:
    """Say on standard error what is wrong.

    Returns:
        The exit code, as given.
    """
    note(f"assay: {sentence}")
    return code


def is_output_full() -> bool:
    """Whether standard output takes nothing more; from then on whatever is still written to it goes nowhere."""
    try:
        sys.stdout.flush()  # what was refused is still there to be refused again
    except OSError:
        hush()  # at Python's end it would be, once more
        return True
    return False


def hush() -> None:
    """Let whatever is still written to standard output go nowhere: its reader has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
