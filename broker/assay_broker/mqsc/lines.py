"""Splits a script into commands, with the line and column of each character of a command's text.

IBM MQ's rules:

- A line that ends in ``+`` continues at the next line's first character that is not blank.
- A line that ends in ``-`` continues at the next line's first column.
- Both marks also work inside quotes.
- ``*`` in the first column begins a comment.  Comments and blank lines inside a command are ignored.
- ``;`` ends a command.  END ends the script.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

LONGEST_LINE = 2_048
LONGEST_COMMAND = 32_762
"""The most characters of a command; a longer command is refused without being parsed."""

_BLANKS = " \t"


class Position(Struct, frozen=True, order=True):
    """A place in a script; lines and columns count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class LineFault(Struct, frozen=True):
    """A mistake in a command's lines."""

    at: Position
    text: str


class Piece(Struct, frozen=True):
    """A part of a command's text from one line.

    Args:
        offset: The offset of the part in the command's text.
        at: The position of the part in the script.
    """

    offset: int
    at: Position


class SourceCommand(Struct, frozen=True, kw_only=True):
    """One MQSC command of a script.

    Args:
        text: The command's text, joined from its lines.
        pieces: The place in the script of each part of the text, in order.
        lines: The command's lines in the script, including comments and blank lines between them.
        fault: The first mistake in the command's lines; None if the lines have no mistake.
    """

    text: str
    pieces: tuple[Piece, ...]
    lines: tuple[str, ...]
    fault: LineFault | None = None

    def position(self, offset: int) -> Position:
        """Return the position in the script of the character at an offset of the command's text."""
        piece = self.pieces[max(bisect_right(self.pieces, offset, key=lambda one: one.offset) - 1, 0)]
        return Position(piece.at.line, piece.at.column + offset - piece.offset)

    @property
    def ends(self) -> bool:
        """Whether the command is END, which ends the script."""
        return self.text.strip().upper() == "END"


class Remark(Struct, frozen=True):
    """A comment or a blank line outside any command."""

    line: str


class _Gathering:
    """A command whose lines are being joined."""

    def __init__(self) -> None:
        self.text = ""
        self.pieces: list[Piece] = []
        self.lines: list[str] = []
        self.fault: LineFault | None = None
        self._quoted = False

    def add(self, text: str, at: Position) -> str:
        """Add a line's text up to the first semicolon outside quotes.

        Args:
            text: The text of the line.
            at: The position of the text in the script.

        Returns:
            The rest of the text from the semicolon on; empty if the text has no such semicolon.
        """
        for place, letter in enumerate(text):
            if letter == "'":
                self._quoted = not self._quoted
            elif letter == ";" and not self._quoted:
                self._take(text[:place], at)
                return text[place:]
        self._take(text, at)
        return ""

    def _take(self, text: str, at: Position) -> None:
        self.pieces.append(Piece(len(self.text), at))
        if self.fault is None:
            self.text += text
        if len(self.text) > LONGEST_COMMAND:
            self.refuse(at, f"A command has at most {LONGEST_COMMAND} characters, and this one has more.")

    def refuse(self, at: Position, why: str) -> None:
        """Note a mistake at a position, unless an earlier mistake was noted."""
        if self.fault is None:
            self.fault = LineFault(at, why)

    def command(self) -> SourceCommand:
        """Return the command, after all its lines were added."""
        return SourceCommand(text=self.text, pieces=tuple(self.pieces), lines=tuple(self.lines), fault=self.fault)


def source_commands(script: str) -> Iterator[SourceCommand | Remark]:
    """Yield the commands of a script, and the comments and blank lines between commands.

    Args:
        script: The script's text.
    """
    gathering: _Gathering | None = None
    continues = "+"
    for number, line in enumerate(_physical(script), start=1):
        remark = line.startswith("*") or not line.strip(_BLANKS)
        if gathering is None and remark:
            yield Remark(line)
            continue
        gathering = gathering or _Gathering()
        gathering.lines.append(line)
        if remark:
            continue
        if len(line) > LONGEST_LINE:
            gathering.refuse(
                Position(number, LONGEST_LINE + 1), f"A line has at most {LONGEST_LINE} characters, not {len(line)}."
            )
        continues = _add_line(gathering, number, line, continues)
        if not continues:
            yield gathering.command()
            gathering, continues = None, "+"
    if gathering is not None:
        yield gathering.command()


def _physical(script: str) -> Iterator[str]:
    lines = script.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for line in lines:
        yield line.removesuffix("\r")


def _add_line(gathering: _Gathering, number: int, line: str, continues: str) -> str:
    """Add a line to a command.

    Args:
        gathering: The command whose lines are being joined.
        number: The line's number in the script, from 1.
        line: The line.
        continues: The mark at the end of the command's previous line, ``+`` or ``-``; ``+`` for the first line.

    Returns:
        The mark at the end of this line, ``+`` or ``-``; empty if the line ends the command.
    """
    begin = 0 if continues == "-" else len(line) - len(line.lstrip(_BLANKS))
    text = line.rstrip(_BLANKS)
    mark = text[-1] if text[-1] in "+-" else ""
    body = text[begin : len(text) - 1] if mark else text[begin:]
    if not gathering.pieces and not body.strip(_BLANKS + ";"):
        gathering.add("", Position(number, begin + 1))
        return "" if ";" in body else mark
    behind = gathering.add(body, Position(number, begin + 1))
    if not behind:
        return mark
    rest = behind[1:].lstrip(_BLANKS)
    if rest:
        at = Position(number, begin + len(body) - len(rest) + 1)
        gathering.refuse(at, "A command begins on a new line, not after a semicolon.")
    return ""
