"""The parser that splits a command's text into parameters."""

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
    """An MQSC command is not valid.

    Args:
        text: A sentence that names the mistake and the expected form.
        begin: The offset of the wrong token in the command's text.
        end: The offset after the wrong token.
        identifier: The message's identifier, such as ``AMQ8405I``.
        reason: The reason code.
        hint: A line that lists the valid words; empty if the error has none.
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
    """A parameter's value in an MQSC command.

    Args:
        text: The value without quotes; in upper case if it was not quoted.
        quoted: Whether the value was quoted.
        begin: The offset of the value in the command's text.
        end: The offset after the value.
    """

    text: str
    quoted: bool
    begin: int
    end: int


class Parameter(Struct, frozen=True):
    """A parameter of an MQSC command: a word, and its values in parentheses.

    Args:
        word: The word in upper case.
        values: The values; None if no parentheses follow the word.
        begin: The offset of the word in the command's text.
        end: The offset after the word.
    """

    word: str
    values: tuple[Given, ...] | None
    begin: int
    end: int

    def fault(self, text: str, identifier: str = "AMQ8405I", reason: Mqrccf | Mqrc | None = None) -> MqscFaultError:
        """Return an error that points to this parameter."""
        return MqscFaultError(text, self.begin, self.end, identifier, reason or Mqrccf.PARM_SYNTAX_ERROR)

    def bare(self) -> None:
        """Check that the parameter has no value.

        Raises:
            MqscFaultError: The parameter has a value.
        """
        if self.values is not None:
            raise self.fault(f"{self.word} takes no value.")

    def one(self) -> Given:
        """Return the parameter's only value.

        Raises:
            MqscFaultError: The parameter has no value, an empty value, or several values.
        """
        first, *more = self.several()
        for extra in more:
            raise MqscFaultError(
                f"{self.word} takes one value; quote a value with characters other than letters, digits and . / _ %.",
                extra.begin,
                extra.end,
            )
        return first

    def several(self) -> tuple[Given, ...]:
        """Return the parameter's values, at least one.

        Raises:
            MqscFaultError: The parameter has no value, or an empty value.
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
    """Return the parameters of a command, of which the first is the verb.

    Args:
        command: The command; its ``fault`` must be None.

    Raises:
        MqscFaultError: The command's syntax is wrong.
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
            raise MqscFaultError("A parenthesis is not closed.", opened, len(text)) from error
        begin = token.start_pos or 0
        raise _odd_token(str(token), begin) from error
    return tuple(_parameter(branch) for branch in tree.children if isinstance(branch, Tree))


def _odd_character(text: str, at: int) -> MqscFaultError:
    if text[at] == "'":
        closed = text.find("'", at + 1) >= 0
        why = "Quotes are allowed in parentheses only." if closed else "A quote is not closed."
        return MqscFaultError(why, at, at + 1)
    return MqscFaultError(f"{text[at]!a} is not allowed outside quotes.", at, at + 1)


_ODD = {
    "(": "A parenthesis must follow a keyword, and parentheses do not nest; quote a value that contains one.",
    ")": "This parenthesis closes nothing.",
}


def _odd_token(text: str, begin: int) -> MqscFaultError:
    why = _ODD.get(text, "A keyword was expected; quotes are allowed in parentheses only.")
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
    """Return a hint that names the most similar known word, to append to a sentence; empty if no word is similar."""
    return _nearest(word[:_LONGEST_COMPARED], tuple(known))


_LONGEST_COMPARED = 64


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    found = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (do you mean {found[0]}?)" if found else ""
