"""The parsing of steps: readers for each kind of field, such as durations, message labels and options of a send.

Every step with fields is parsed by `phrase`, so all steps understand the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast, get_args

import parse
from pytest_bdd import parsers

from assay_adapters.ports.administration import Scalar
from assay_adapters.ports.capabilities import Opmode
from assay_adapters.ports.client import AckMode, Mode, Script, Setting
from assay_sdk.model.durations import DURATION
from assay_sdk.model.reasons import Mqrc
from assay_steps.words.attributes import ATTRIBUTE, read_attributes
from assay_steps.words.descriptor import feedback, report_of
from assay_steps.words.mistakes import MistakeError, nearest
from assay_steps.words.names import PLACE, Place, read_place
from assay_steps.words.send_options import SendOptions, read_options
from assay_steps.words.spans import read_span
from assay_steps.words.subscription_terms import TERMS, Terms, read_terms

RIGHTS = {
    "put to": "PUT",
    "get from": "GET",
    "browse": "BROWSE",
    "publish to": "PUB",
    "subscribe to": "SUB",
}
"""IBM MQ's authority on a queue or topic for each right that a step names."""


def _pattern(regex: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    return cast("Callable[[Callable[[str], Any]], Callable[[str], Any]]", parse.with_pattern(regex))


@_pattern(DURATION)
def _duration(text: str) -> int:
    return read_span(text)


@_pattern(r"\d+\.\d+ ms")
def _fraction(text: str) -> timedelta:
    return timedelta(milliseconds=float(text.removesuffix(" ms")))


@_pattern(r'"[^"]*"')
def _name(text: str) -> str:
    return text.strip('"')


@_pattern(r'"[^"]*"(?:, "[^"]*")*(?: and "[^"]*")?|"[^"]*" to "[^"]*"')
def _names(text: str) -> tuple[str, ...]:
    ends = re.fullmatch(r'"([^"]*)" to "([^"]*)"', text)
    if ends is None:
        return tuple(re.findall(r'"([^"]*)"', text))
    first, last = (re.fullmatch(r"(\D*)(\d+)", label) for label in ends.groups())
    if first is None or last is None:
        raise ValueError(f'{text}: a range of messages needs numbers at the end, as in "m1" to "m9".')
    if first[1] != last[1] or int(first[2]) > int(last[2]):
        raise ValueError(f"{text}: a range of messages goes from a lower number to a higher one after the same name.")
    return tuple(f"{first[1]}{number}" for number in range(int(first[2]), int(last[2]) + 1))


@_pattern(PLACE)
def _place(text: str) -> Place:
    return read_place(text)


@_pattern(rf"(?:{PLACE})(?:, (?:{PLACE}))*(?: and (?:{PLACE}))?")
def _places(text: str) -> tuple[Place, ...]:
    return tuple(read_place(match[0]) for match in re.finditer(PLACE, text))


@_pattern(r"-?\d+")
def _number(text: str) -> int:
    return int(text)


@_pattern(r"MQRC_[A-Z_]+")
def _mqrc(text: str) -> Mqrc:
    short = text.removeprefix("MQRC_")
    if short not in Mqrc.__members__:
        hint = nearest(text, (f"MQRC_{name}" for name in Mqrc.__members__))
        raise MistakeError(f"there is no reason code {text}; {hint}see docs/reasons.md")
    return Mqrc[short]


@_pattern(r"classic|simplified")
def _style(text: str) -> str:
    return text


@_pattern("|".join(ack.value for ack in AckMode))
def _ack(text: str) -> AckMode:
    return AckMode(text)


@_pattern("|".join(setting.value for setting in Setting))
def _setting(text: str) -> Setting:
    return Setting(text)


@_pattern("|".join(re.escape(mode.value) for mode in reversed(Mode)))
def _mode(text: str) -> Mode:
    return Mode(text)


@_pattern("persistent|non-persistent")
def _persistence(text: str) -> int:
    return 1 if text == "persistent" else 0


@_pattern(r".+")
def _options(text: str) -> SendOptions:
    return read_options(text)


@_pattern(rf"{ATTRIBUTE}(?: {ATTRIBUTE})*")
def _attributes(text: str) -> dict[str, Scalar]:
    return read_attributes(text)


@_pattern(r"MQRC_[A-Z_]+|MQFB_[A-Z_]+")
def _feedback(text: str) -> int:
    return feedback(text)


@_pattern(r"MQRO_[A-Z_]+(?:, MQRO_[A-Z_]+)*(?: and MQRO_[A-Z_]+)?")
def _report(text: str) -> int:
    return report_of(re.findall(r"MQRO_[A-Z_]+", text))


@_pattern("no data|the first 100 bytes of its body|all of its body")
def _report_data(text: str) -> str:
    return text


@_pattern("a new id|the message id of the original|the correlation id of the original")
def _ident(text: str) -> str:
    return text


@_pattern("message id|correlation id")
def _id_field(text: str) -> str:
    return {"message id": "MsgId", "correlation id": "CorrelId"}[text]


@_pattern("|".join(RIGHTS))
def _right(text: str) -> str:
    return RIGHTS[text]


@_pattern(r"\d+\.\d")
def _level(text: str) -> str:
    return text


def _failing(first: int, last: int) -> dict[str, Any]:
    return {"fail_at": first, "fail_times": last - first + 1}


SCRIPT_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (r"fails in callback (\d+)", lambda match: {"fail_at": int(match[1])}),
    (r"fails in callbacks (\d+) to (\d+)", lambda match: _failing(int(match[1]), int(match[2]))),
    (r"cannot decode a message in callback (\d+)", lambda match: {"fail_at": int(match[1]), "undecodable": True}),
    (rf"works ({DURATION}) on each", lambda match: {"take_ms": read_span(match[1])}),
    (r"acknowledges each", lambda _match: {"acknowledge_each": True}),
    (r"commits as soon as (\d+) messages have come", lambda match: {"commit_after": int(match[1])}),
    (r"rolls back as soon as (\d+) messages have come", lambda match: {"rollback_after": int(match[1])}),
    (r"acknowledges as soon as (\d+) messages have come", lambda match: {"acknowledge_after": int(match[1])}),
    (r"sets its listener again as soon as (\d+) messages have come", lambda match: {"again_after": int(match[1])}),
    (r"closes its receiver as soon as (\d+) messages have come", lambda match: {"close_after": int(match[1])}),
)
"""The patterns and readers of a listener's actions; a step joins several actions with ``and``."""

_ONE_SCRIPT = "|".join(re.sub(r"\((?!\?)", "(?:", pattern) for pattern, _ in SCRIPT_PHRASES)


@_pattern(rf"(?:{_ONE_SCRIPT})(?: and (?:{_ONE_SCRIPT}))*")
def _script(text: str) -> Script:
    found: dict[str, Any] = {}
    for part in text.split(" and "):
        for pattern, read in SCRIPT_PHRASES:
            match = re.fullmatch(pattern, part)
            if match:
                given = read(match)
                if found.keys() & given.keys():
                    raise MistakeError(f"The listener's action {part!r} contradicts an earlier action of {text!r}.")
                found |= given
    return Script(**found)


@_pattern("|".join(get_args(Opmode)))
def _opmode(text: str) -> Opmode:
    return cast("Opmode", text)


@_pattern(TERMS)
def _terms(text: str) -> Terms:
    return read_terms(text)


TYPES: dict[str, Callable[[str], Any]] = {
    "Duration": _duration,
    "Fraction": _fraction,
    "Name": _name,
    "Names": _names,
    "Place": _place,
    "Places": _places,
    "Number": _number,
    "Mqrc": _mqrc,
    "Ack": _ack,
    "Style": _style,
    "Setting": _setting,
    "Mode": _mode,
    "Persistence": _persistence,
    "Options": _options,
    "Attributes": _attributes,
    "Feedback": _feedback,
    "Report": _report,
    "ReportData": _report_data,
    "Ident": _ident,
    "IdField": _id_field,
    "Right": _right,
    "Level": _level,
    "Opmode": _opmode,
    "Script": _script,
    "Terms": _terms,
}


class Phrase(parsers.parse):
    """The parser of one step wording.

    pytest-bdd first asks whether a text matches, and then for the arguments; this class parses the text only once.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, extra_types=TYPES)
        self._parsed: tuple[str, dict[str, Any]] | None = None

    def is_matching(self, name: str) -> bool:
        """Return whether a step's text matches, and store the arguments for `parse_arguments`."""
        try:
            result = self.parser.parse(name)
        except ValueError:
            return False
        self._parsed = (name, result.named) if result else None
        return bool(result)

    def parse_arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments in a step's text.

        The arguments that `is_matching` stored are used only once, because the step may change them.
        """
        parsed, self._parsed = self._parsed, None
        return parsed[1] if parsed is not None and parsed[0] == name else super().parse_arguments(name)


def phrase(text: str) -> Phrase:
    """Make the parser of a step's text, with the kit's kinds of fields."""
    return Phrase(text)
