"""The syntax of commands: from a command's text to its parameters."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from msgspec import Struct

from assay_broker.mqsc.lines import SourceCommand
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc


class MqscFaultError(Exception):
    """A command is not valid.

    Args:
        text: One sentence: what is wrong, and what was expected.
        begin: The offset of the wrong token in the command's text.
        end: The offset after it.
        identifier: The message's identifier, such as ``AMQ8405I``.
        reason: The reason code.
        hint: A line that lists what is valid; empty for none.
    """

    def __init__(
        self,
        text: str,
        begin: int,
        end: int,
        identifier: str = "AMQ8405I",
        reason: Mqrccf | Mqrc = Mqrccf.PARM_SYNTAX_ERROR,
        *,
        hint: str = "",
    ) -> None:
        super().__init__(text)
        self.text = text
        self.begin = begin
        self.end = end
        self.identifier = identifier
        self.reason = reason
        self.hint = hint


class Given(Struct, frozen=True):
    """A value in a command.

    Args:
        text: Its text; in upper case if it had no quotes.
        quoted: Whether it had quotes.
        begin: Its offset in the command's text.
        end: The offset after it.
    """

    text: str
    quoted: bool
    begin: int
    end: int


class Parameter(Struct, frozen=True):
    """A word with the values after it.

    Args:
        word: The word in upper case.
        values: The values in parentheses; None without parentheses.
        begin: The offset of the word in the command's text.
        end: The offset after the word.
    """

    word: str
    values: tuple[Given, ...] | None
    begin: int
    end: int

    def fault(self, text: str, identifier: str = "AMQ8405I", reason: Mqrccf | Mqrc | None = None) -> MqscFaultError:
        """Return an error about this parameter."""
        return MqscFaultError(text, self.begin, self.end, identifier, reason or Mqrccf.PARM_SYNTAX_ERROR)

    def bare(self) -> None:
        """Refuse values after a word that takes none.

        Raises:
            MqscFaultError: It has values.
        """
        if self.values is not None:
            raise self.fault(f"{self.word} takes no value.")

    def one(self) -> Given:
        """Return its only value.

        Raises:
            MqscFaultError: It has none, an empty one, or several.
        """
        first, *more = self.several()
        for extra in more:
            raise MqscFaultError(
                f"{self.word} takes one value; quote what is more than letters, digits and . / _ %.",
                extra.begin,
                extra.end,
            )
        return first

    def several(self) -> tuple[Given, ...]:
        """Return its values, at least one.

        Raises:
            MqscFaultError: It has none, or an empty one.
        """
        if not self.values:
            raise self.fault(f"{self.word} needs a value in parentheses.", reason=Mqrccf.PARM_MISSING)
        for value in self.values:
            if not value.text:
                raise MqscFaultError(f"{self.word} needs a value; ' ' makes it blank.", value.begin, value.end)
        return self.values


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = files("assay_broker.mqsc").joinpath("mqsc.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual")


def parameters(command: SourceCommand) -> tuple[Parameter, ...]:
    """Return the parameters of a command, its verb first.

    Args:
        command: The command, without a mistake in its lines.

    Raises:
        MqscFaultError: Its syntax is wrong.
    """
    text = command.text
    try:
        tree = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise _odd_character(text, error.column - 1) from error
    except UnexpectedToken as error:
        token = error.token
        if token.type == "$END":
            opened = text.rindex("(")
            raise MqscFaultError("A parenthesis is opened and not closed.", opened, len(text)) from error
        begin = token.start_pos or 0
        raise _odd_token(str(token), begin) from error
    return tuple(_parameter(branch) for branch in tree.children if isinstance(branch, Tree))


def _odd_character(text: str, at: int) -> MqscFaultError:
    if text[at] == "'":
        closed = text.find("'", at + 1) >= 0
        why = "Quotes stand in parentheses only." if closed else "A quote is opened and not closed."
        return MqscFaultError(why, at, at + 1)
    return MqscFaultError(f"{text[at]!a} is no part of a command outside quotes.", at, at + 1)


_ODD = {
    "(": "A parenthesis follows a keyword, and parentheses do not nest; a value that holds one is to be quoted.",
    ")": "A parenthesis is closed that was not opened.",
}


def _odd_token(text: str, begin: int) -> MqscFaultError:
    why = _ODD.get(text, "A keyword was expected; quotes stand in parentheses only.")
    return MqscFaultError(why, begin, begin + len(text))


def _parameter(branch: Tree[Token]) -> Parameter:
    word, *groups = branch.children
    if not isinstance(word, Token):
        raise TypeError("the grammar begins a parameter with a word")
    values: tuple[Given, ...] | None = None
    for group in groups:
        if isinstance(group, Tree):
            values = tuple(_given(value) for value in group.children if isinstance(value, Tree))
    begin = word.start_pos or 0
    return Parameter(str(word).upper(), values, begin, begin + len(word))


def _given(branch: Tree[Token]) -> Given:
    token = branch.children[0]
    if not isinstance(token, Token):
        raise TypeError("the grammar makes a value of one token")
    begin = token.start_pos or 0
    quoted = token.type == "QUOTED"
    text = str(token)[1:-1].replace("''", "'") if quoted else str(token).upper()
    return Given(text, quoted, begin, begin + len(token))


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint at the most similar known word, for the end of a sentence; empty if none is similar."""
    return _nearest(word[:_LONGEST_COMPARED], tuple(known))


_LONGEST_COMPARED = 64


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    found = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (do you mean {found[0]}?)" if found else ""
