"""The lines of a script, joined to commands; each character of a command can be traced to its line and column.

IBM MQ's rules:
- A line that ends in ``+`` continues at the next line's first character that is not blank, one that ends in ``-`` at
  the next line's first column; both also inside quotes.
- ``*`` in the first column begins a comment. Comments and blank lines inside a command are left out.
- ``;`` ends a command; END ends the script.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

LONGEST_LINE = 2_048
LONGEST_COMMAND = 32_762
"""The highest number of characters of a command; a longer one is refused unread."""

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
    """A part of a command's text from one line."""

    offset: int
    at: Position


class SourceCommand(Struct, frozen=True, kw_only=True):
    """One command of a script.

    Args:
        text: Its text, joined from its lines.
        pieces: The parts of the text by line, in order.
        lines: Its lines in the script, including comments and blank lines between them.
        fault: A mistake in its lines; None for none.
    """

    text: str
    pieces: tuple[Piece, ...]
    lines: tuple[str, ...]
    fault: LineFault | None = None

    def position(self, offset: int) -> Position:
        """Return the position in the script of a character of the text."""
        piece = self.pieces[max(bisect_right(self.pieces, offset, key=lambda one: one.offset) - 1, 0)]
        return Position(piece.at.line, piece.at.column + offset - piece.offset)

    @property
    def ends(self) -> bool:
        """Whether it ends the script."""
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
        """Add a part up to a semicolon outside quotes.

        Returns:
            The rest from the semicolon on; empty if there is none.
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
        """Note a mistake, unless there is an earlier one."""
        if self.fault is None:
            self.fault = LineFault(at, why)

    def command(self) -> SourceCommand:
        """Return the finished command."""
        return SourceCommand(text=self.text, pieces=tuple(self.pieces), lines=tuple(self.lines), fault=self.fault)


def source_commands(script: str) -> Iterator[SourceCommand | Remark]:
    """Return the commands of a script, and the comments and blank lines between them.

    Args:
        script: Its text.
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

    Returns:
        The mark by which the next line continues, ``+`` or ``-``; empty if the command ends here.
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
        gathering.refuse(at, "A command begins on a line of its own, not behind a semicolon.")
    return ""
