"""Readers of commands about objects: each checks a command's parameters and returns a statement for the core.

A reader finds every mistake that does not depend on the queue manager's objects: unknown words, repeated parameters,
and values that are never valid.  It raises an `MqscFaultError` with the position of the wrong word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    ClearQueue,
    DefineObject,
    DeleteObject,
)
from assay_broker.core.objects.attributes import ATTRIBUTES, SYNONYMS, Attribute, Flag, attribute, attributes
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.objects.names import check_name, shortened
from assay_broker.core.objects.values import OutOfRangeError, TooLongError, ValueFaultError, accepted, expected
from assay_broker.core.refusals import RefusalError
from assay_broker.mqsc.syntax import Given, MqscFaultError, Parameter, nearest
from assay_broker.mqsc.words import KINDS, NOT_ON_ZOS, NOUNS, VALID, VERBS, ZOS_ONLY
from assay_sdk.model.command_reasons import Mqrccf


class Showing(Struct, frozen=True, kw_only=True):
    """The choice of attributes and subscriptions that a DISPLAY shows.

    Args:
        keywords: The keywords of the attributes; None for all attributes.
        subtypes: The types of subscriptions; None for all types.
    """

    keywords: tuple[str, ...] | None = None
    subtypes: tuple[str, ...] | None = None


class Statement(Struct, frozen=True, kw_only=True):
    """A valid MQSC command, with the command for the core.

    Args:
        verb: The verb in full.
        noun: The noun in full.
        change: The command for the core.
        name: The name of the command's object; empty if the command names no object.
        places: The begin and end offsets of each keyword, so that a refusal can point to it; the empty keyword stands
            for the name.
        showing: The attributes and subscriptions that a DISPLAY shows.
    """

    verb: str
    noun: str
    change: Change
    name: str
    places: dict[str, tuple[int, int]]
    showing: Showing = Showing()


class Reading(Struct, frozen=True, kw_only=True):
    """A command that is being read, after its verb and noun were found.

    Args:
        verb: The verb in full.
        noun: The noun in full.
        head: The parameter that holds the noun and the object's name.
        rest: The parameters after the head.
        host: The queue manager's platform and level.
    """

    verb: str
    noun: str
    head: Parameter
    rest: tuple[Parameter, ...]
    host: Host

    def name(self) -> Given:
        """Return the object's name, which is the value in parentheses after the noun."""
        return self.head.one()

    def statement(self, change: Change, name: Given | None = None, showing: Showing | None = None) -> Statement:
        """Return the statement for the command.

        Args:
            change: The command for the core.
            name: The object's name; None if the command names no object.
            showing: The attributes and subscriptions that a DISPLAY shows; None for another command.
        """
        at = (name.begin, name.end) if name is not None else (self.head.begin, self.head.end)
        places = {"": at} | {
            SYNONYMS.get(parameter.word, parameter.word): (parameter.begin, parameter.end) for parameter in self.rest
        }
        return Statement(
            verb=self.verb,
            noun=self.noun,
            change=change,
            name="" if name is None else name.text,
            places=places,
            showing=showing or Showing(),
        )


Reader = Callable[[Reading], Statement]


def begin(given: tuple[Parameter, ...], host: Host) -> Reading:
    """Find the verb and the noun of a command.

    Args:
        given: The command's parameters, of which the first is the verb.
        host: The queue manager's platform and level.

    Raises:
        MqscFaultError: The verb or the noun is missing or unknown, the verb has a value or does not take the noun, or
            the command does not exist on the queue manager's platform.
    """
    if not given:
        raise MqscFaultError("A command begins with a verb.", 0, 0)
    first = given[0]
    verb = VERBS.get(first.word)
    if verb is None:
        text = f"{first.word[:48]} is no command{nearest(first.word, VERBS)}."
        raise MqscFaultError(text, first.begin, first.end, hint=f"AMQ8426I: Valid commands are: {', '.join(VALID)}.")
    first.bare()
    valid = VALID[verb]
    hint = f"AMQ8427I: Valid are: {verb} {' | '.join(valid)}."
    if len(given) == 1:
        raise MqscFaultError(f"{verb} needs a noun.", first.begin, first.end, reason=Mqrccf.PARM_MISSING, hint=hint)
    second = given[1]
    noun = NOUNS.get(second.word)
    if noun not in valid:
        known = [word for word, full in NOUNS.items() if full in valid]
        text = f"There is no {verb} {second.word[:48]}{nearest(second.word, known)}."
        raise MqscFaultError(text, second.begin, second.end, hint=hint)
    return _on_host(Reading(verb=verb, noun=str(noun), head=given[1], rest=given[2:], host=host))


def _on_host(reading: Reading) -> Reading:
    pair = (reading.verb, reading.noun)
    if reading.host.zos and pair in NOT_ON_ZOS:
        raise reading.head.fault(
            f"{' '.join(pair)} is not for z/OS, where authority is the external security manager's."
        )
    if not reading.host.zos and pair in ZOS_ONLY:
        raise reading.head.fault(f"{' '.join(pair)} is for z/OS only.")
    return reading


# parameters -----------------------------------------------------------------------------------------------------------


def one_of(parameter: Parameter, words: tuple[str, ...]) -> str:
    """Return the parameter's only value, which must be one of these words.

    Raises:
        MqscFaultError: The parameter has no value, several values, or another word.
    """
    given = parameter.one()
    if given.text not in words:
        raise MqscFaultError(
            f"{parameter.word} is {' or '.join(words)}, not {shortened(given.text)}{nearest(given.text, words)}.",
            given.begin,
            given.end,
            "AMQ8410E",
            Mqrccf.ATTR_VALUE_ERROR,
        )
    return given.text


def by_keyword(reading: Reading, known: tuple[str, ...]) -> dict[str, Parameter]:
    """Return the parameters after the head by keyword, and refuse unknown keywords.

    Args:
        reading: The command.
        known: The keywords that the command takes.

    Raises:
        MqscFaultError: The command does not take one of the keywords, or has a keyword twice.
    """
    unique(reading.rest, {})
    for parameter in reading.rest:
        if parameter.word not in known:
            raise parameter.fault(
                f"{reading.verb} {reading.noun} has no {parameter.word[:48]}{nearest(parameter.word, known)}."
            )
    return {parameter.word: parameter for parameter in reading.rest}


# objects --------------------------------------------------------------------------------------------------------------


def read_define(reading: Reading) -> Statement:
    """Return the statement of a DEFINE command."""
    kind = KINDS[reading.noun][0]
    name = checked_name(kind, reading.name())
    options, given = _split(reading, {"LIKE": "LIKE", "REPLACE": "REPLACE", "NOREPLACE": "REPLACE"})
    like = options.get("LIKE")
    replace = options.get("REPLACE")
    if replace is not None:
        replace.bare()
    change = DefineObject(
        kind=kind,
        name=name.text,
        attributes=_values(reading, kind, given),
        like=None if like is None else checked_name(kind, like.one()).text,
        replace=replace is not None and replace.word == "REPLACE",
    )
    return reading.statement(change, name)


def read_alter(reading: Reading) -> Statement:
    """Return the statement of an ALTER command."""
    kind = KINDS[reading.noun][0]
    name: Given | None = None
    if kind is Kind.QMGR:
        reading.head.bare()
    else:
        name = checked_name(kind, reading.name())
    _, given = _split(reading, {})
    for parameter in given:
        row = _row(reading, kind, parameter)
        if row.fixed:
            raise parameter.fault(f"{row.keyword} can be set by DEFINE only; ALTER cannot change it.")
    change = AlterObject(kind, "" if name is None else name.text, _values(reading, kind, given))
    return reading.statement(change, name)


def read_delete(reading: Reading) -> Statement:
    """Return the statement of a DELETE command."""
    kind = KINDS[reading.noun][0]
    name = checked_name(kind, reading.name())
    purging = {"PURGE": "PURGE", "NOPURGE": "PURGE"} if kind is Kind.QLOCAL else {}
    options, given = _split(reading, purging)
    for parameter in given:
        raise parameter.fault(f"DELETE {reading.noun} has no {parameter.word[:48]}{nearest(parameter.word, purging)}.")
    purge = options.get("PURGE")
    if purge is not None:
        purge.bare()
    return reading.statement(DeleteObject(kind, name.text, purge is not None and purge.word == "PURGE"), name)


def read_clear(reading: Reading) -> Statement:
    """Return the statement of CLEAR QLOCAL.

    Every name that is not empty is valid, because a queue created on first use may have any name.
    """
    name = reading.name()
    if not name.text:
        name = checked_name(Kind.QLOCAL, name)
    for parameter in reading.rest:
        raise parameter.fault(f"CLEAR QLOCAL takes a name and nothing else, not {parameter.word[:48]}.")
    return reading.statement(ClearQueue(name.text), name)


def checked_name(kind: Kind, name: Given) -> Given:
    """Return the name unchanged, if it is valid for this kind of object.

    Raises:
        MqscFaultError: The name is not valid.
    """
    try:
        check_name(kind, name.text)
    except RefusalError as error:
        raise MqscFaultError(
            _without_label(error), name.begin, name.end, "AMQ8413E", Mqrccf.OBJECT_NAME_ERROR
        ) from error
    return name


def _without_label(error: RefusalError) -> str:
    return str(error).partition(": ")[2]


def unique(parameters: tuple[Parameter, ...], slots: Mapping[str, str]) -> None:
    """Check that no parameter is given twice, or together with its NO form.

    Args:
        parameters: The parameters.
        slots: Maps the NO form of a parameter to its usual form: ``NOSHARE`` to ``SHARE``.

    Raises:
        MqscFaultError: A parameter is given twice, or together with its NO form.
    """
    seen: dict[str, Parameter] = {}
    for parameter in parameters:
        slot = slots.get(parameter.word, SYNONYMS.get(parameter.word, parameter.word))
        earlier = seen.get(slot)
        if earlier is not None:
            both = parameter.word if earlier.word == parameter.word else f"{earlier.word} and {parameter.word}"
            raise parameter.fault(f"{both[:100]} may be given once.", "AMQ8411E")
        seen[slot] = parameter


def _split(reading: Reading, options: Mapping[str, str]) -> tuple[dict[str, Parameter], tuple[Parameter, ...]]:
    """Separate a command's options from the attributes of its object.

    Args:
        reading: The command.
        options: All words that are forms of an option, each with the option's name.

    Returns:
        The options by name, and the attributes.
    """
    flags = {
        f"NO{row.keyword}": row.keyword
        for kind in KINDS[reading.noun]
        for row in ATTRIBUTES[kind]
        if isinstance(row.values, Flag)
    }
    unique(reading.rest, flags | dict(options))
    own = {options[parameter.word]: parameter for parameter in reading.rest if parameter.word in options}
    return own, tuple(parameter for parameter in reading.rest if parameter.word not in options)


def _row(reading: Reading, kind: Kind, parameter: Parameter) -> Attribute:
    """Return the attribute that a parameter names, for this kind of object.

    Raises:
        MqscFaultError: The kind of object has no such attribute, or the attribute is read-only.
    """
    word = parameter.word
    host = reading.host
    row = attribute(kind, word, zos=host.zos, level=host.level)
    if row is None and word.startswith("NO"):
        row = attribute(kind, word[2:], zos=host.zos, level=host.level)
        row = row if row is not None and isinstance(row.values, Flag) else None
    if row is not None:
        if row.shown:
            raise parameter.fault(f"{word} is shown only; the queue manager sets it.")
        return row
    elsewhere = attribute(kind, word, zos=True, level=10**9)
    if elsewhere is not None:
        where = "on z/OS" if elsewhere.zos else f"since command level {elsewhere.since}"
        raise parameter.fault(f"{word} is an attribute of a {kind} {where} only.")
    known = [one.keyword for one in attributes(kind, zos=host.zos, level=host.level) if not one.shown]
    raise parameter.fault(f"A {kind} has no attribute {word[:48]}{nearest(word, known)}.")


def _values(reading: Reading, kind: Kind, given: tuple[Parameter, ...]) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for parameter in given:
        row = _row(reading, kind, parameter)
        if isinstance(row.values, Flag):
            parameter.bare()
            result[row.keyword] = "YES" if parameter.word == row.keyword else "NO"
        else:
            result[row.keyword] = checked_value(row, parameter.one())
    return result


_FAULTS: Mapping[type[ValueFaultError], str] = {
    OutOfRangeError: "AMQ8412E",
    TooLongError: "AMQ8413E",
    ValueFaultError: "AMQ8410E",
}


def checked_value(row: Attribute, given: Given) -> Value:
    """Return an attribute's value in the form in which a `Definition` stores it.

    Raises:
        MqscFaultError: The value is not valid for the attribute.
    """
    try:
        return accepted(row, given.text)
    except ValueFaultError as fault:
        known = expected(row)
        near = nearest(given.text.upper(), known.replace(",", "").split())
        text = f"{str(fault).removesuffix('.')}{near}." if near else str(fault)
        raise MqscFaultError(text, given.begin, given.end, _FAULTS[type(fault)], Mqrccf.ATTR_VALUE_ERROR) from fault
