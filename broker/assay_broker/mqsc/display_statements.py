"""The readers of DISPLAY commands and of SET AUTHREC, and the table of the readers of all commands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from assay_broker.core.administration.authority import OBJECT_TYPES, expand
from assay_broker.core.administration.changes import (
    Comparison,
    Condition,
    DisplayAuthority,
    DisplayObjects,
    SetAuthority,
)
from assay_broker.core.objects.attributes import Attribute, attributes
from assay_broker.core.objects.conditions import check_condition
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.objects.names import shortened
from assay_broker.core.refusals import RefusalError
from assay_broker.mqsc.statements import (
    Reader,
    Reading,
    Showing,
    Statement,
    begin,
    by_keyword,
    checked_name,
    one_of,
    read_alter,
    read_clear,
    read_define,
    read_delete,
    unique,
)
from assay_broker.mqsc.status_statements import read_clear_topic, read_display_threads, read_resolve, read_topic_status
from assay_broker.mqsc.syntax import Given, MqscFaultError, Parameter, nearest
from assay_broker.mqsc.words import KINDS, QUEUE_KINDS, STATUS_KEYWORDS, SYSTEM_KEYWORDS
from assay_sdk.model.command_reasons import Mqrccf

_SUBTYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "USER": ("ADMIN", "API"),
        "ADMIN": ("ADMIN",),
        "API": ("API",),
        "PROXY": ("PROXY",),
        "ALL": ("ADMIN", "API", "PROXY"),
    }
)
"""The types of subscriptions for each SUBTYPE of DISPLAY SUB; the default is USER."""

_LIMITED = {"QSTATUS": STATUS_KEYWORDS, "SYSTEM": SYSTEM_KEYWORDS}
_COMPARISONS: tuple[str, ...] = get_args(Comparison)


def read(given: tuple[Parameter, ...], host: Host) -> Statement:
    """Turn a command's parameters into a statement.

    Args:
        given: The command's parameters, of which the first is the verb.
        host: The queue manager's platform and level.

    Raises:
        MqscFaultError: The command is not valid.
    """
    reading = begin(given, host)
    reader = _READERS.get((reading.verb, reading.noun)) or _READERS[reading.verb, ""]
    return reader(reading)


def _read_display(reading: Reading) -> Statement:
    kinds = KINDS[reading.noun]
    alone = kinds == (Kind.QMGR,)
    name = None if alone else _generic_name(kinds, reading.name())
    if alone:
        reading.head.bare()
    unique(reading.rest, {})
    where: Condition | None = None
    subtypes: tuple[str, ...] | None = _SUBTYPES["USER"] if reading.noun == "SUB" else None
    words: list[str] = []
    everything = False
    for parameter in reading.rest:
        if parameter.word == "WHERE":
            where = _condition(reading, kinds, parameter)
        elif parameter.word == "TYPE" and parameter.values is not None and reading.noun in {"QUEUE", "QSTATUS"}:
            kinds = _typed(reading, kinds, parameter)
        elif parameter.word == "SUBTYPE" and parameter.values is not None and reading.noun == "SUB":
            subtypes = _SUBTYPES[one_of(parameter, tuple(_SUBTYPES))]
        elif parameter.word == "ALL":
            parameter.bare()
            everything = True
        else:
            words.append(_shown_keyword(reading, kinds, parameter))
    text = "" if name is None else name.text
    # As in IBM MQ, DISPLAY without keywords shows all attributes of one object, and none for a generic name.
    keywords = None if everything or not (words or text.endswith("*")) else tuple(words)
    if keywords is None and reading.noun in _LIMITED:
        keywords = _LIMITED[reading.noun]
    elif keywords is None and reading.noun == "QMGR":  # DISPLAY SYSTEM shows the other attributes
        keywords = tuple(word for word in _known(kinds, reading.host) if word not in SYSTEM_KEYWORDS)
    change = DisplayObjects(kinds=kinds, name=text, where=where)
    return reading.statement(change, name, Showing(keywords=keywords, subtypes=subtypes))


def _generic_name(kinds: tuple[Kind, ...], name: Given) -> Given:
    if name.text == "*":
        return name
    stem = name.text.removesuffix("*")
    if Kind.SUB not in kinds:
        for letter in "*?:":
            if letter in stem:
                raise MqscFaultError(
                    f'A generic name has one "*", at its end, and no "{letter}" before it.',
                    name.begin,
                    name.end,
                    "AMQ8410E",
                    Mqrccf.OBJECT_NAME_ERROR,
                )
    if not (name.quoted and stem and kinds[0] in QUEUE_KINDS):  # a queue created at first use may have any name
        checked_name(kinds[0], Given(stem, name.quoted, name.begin, name.end))
    return name


def _known(kinds: tuple[Kind, ...], host: Host) -> dict[str, Attribute]:
    return {row.keyword: row for kind in kinds for row in attributes(kind, zos=host.zos, level=host.level)}


def _shown_keyword(reading: Reading, kinds: tuple[Kind, ...], parameter: Parameter) -> str:
    parameter.bare()
    known: tuple[str, ...] = _LIMITED.get(reading.noun) or tuple(_known(kinds, reading.host))
    word = parameter.word
    if word not in known:
        text = f"DISPLAY {reading.noun} shows no {word[:48]}{nearest(word, (*known, 'ALL', 'WHERE'))}."
        raise parameter.fault(text)
    return word


def _typed(reading: Reading, kinds: tuple[Kind, ...], parameter: Parameter) -> tuple[Kind, ...]:
    if reading.noun == "QSTATUS":
        one_of(parameter, ("QUEUE",))
        return kinds
    word = one_of(parameter, (*(kind.value for kind in kinds), "ALL"))
    return kinds if word == "ALL" else (Kind(word),)


def _condition(reading: Reading, kinds: tuple[Kind, ...], parameter: Parameter) -> Condition:
    expected_parts = 3
    values = parameter.several()
    if len(values) != expected_parts:
        raise parameter.fault("WHERE takes a keyword, an operator and a value, as in WHERE(CURDEPTH GT 0).")
    keyword, comparison, value = values
    row = _known(kinds, reading.host).get(keyword.text)
    if row is None or (reading.noun in _LIMITED and keyword.text not in _LIMITED[reading.noun]):
        known = _LIMITED.get(reading.noun) or tuple(_known(kinds, reading.host))
        raise MqscFaultError(
            f"DISPLAY {reading.noun} knows no {shortened(keyword.text)}{nearest(keyword.text, known)}.",
            keyword.begin,
            keyword.end,
        )
    condition = Condition(keyword.text, _comparison(comparison), _compared(value))
    try:
        check_condition(kinds, condition, reading.host)
    except RefusalError as error:
        raise MqscFaultError(
            str(error).partition(": ")[2], value.begin, value.end, "AMQ8410E", Mqrccf.ATTR_VALUE_ERROR
        ) from error
    return condition


def _compared(value: Given) -> Value:
    """Return the value with which a condition compares; a blank value becomes the empty text."""
    return value.text if value.text.strip() else ""


def _comparison(given: Given) -> Comparison:
    for known in get_args(Comparison):
        if given.text == known:
            comparison: Comparison = known
            return comparison
    lists = {"CT", "EX", "CTG", "EXG"}
    why = "is for lists, and no attribute is a list" if given.text in lists else "is no operator"
    raise MqscFaultError(f"{shortened(given.text)} {why}; use {', '.join(_COMPARISONS)}.", given.begin, given.end)


# authority ------------------------------------------------------------------------------------------------------------

_AUTHREC = ("PROFILE", "OBJTYPE", "PRINCIPAL", "GROUP", "AUTHADD", "AUTHRMV")


def _read_set_authority(reading: Reading) -> Statement:
    reading.head.bare()
    given = by_keyword(reading, _AUTHREC)
    object_type = one_of(given["OBJTYPE"], OBJECT_TYPES) if "OBJTYPE" in given else ""
    if not object_type:
        raise reading.head.fault(f"OBJTYPE is needed: {' or '.join(OBJECT_TYPES)}.", reason=Mqrccf.PARM_MISSING)
    if "PROFILE" not in given and object_type != "QMGR":
        raise reading.head.fault("PROFILE is needed: a name, or a generic one.", reason=Mqrccf.PARM_MISSING)
    if ("PRINCIPAL" in given) == ("GROUP" in given):
        raise reading.head.fault("Either PRINCIPAL or GROUP is needed.", reason=Mqrccf.PARM_MISSING)
    if "AUTHADD" not in given and "AUTHRMV" not in given:
        raise reading.head.fault("AUTHADD or AUTHRMV is needed.", reason=Mqrccf.PARM_MISSING)
    profile = given["PROFILE"].one() if "PROFILE" in given else None
    change = SetAuthority(
        profile="" if profile is None else profile.text,
        object_type=object_type,
        principals=_entities(given.get("PRINCIPAL")),
        groups=_entities(given.get("GROUP")),
        add=_authorities(object_type, given.get("AUTHADD")),
        remove=_authorities(object_type, given.get("AUTHRMV")),
    )
    return reading.statement(change, profile)


def _entities(parameter: Parameter | None) -> tuple[str, ...]:
    return () if parameter is None else tuple(given.text for given in parameter.several())


def _authorities(object_type: str, parameter: Parameter | None) -> tuple[str, ...]:
    if parameter is None:
        return ()
    words: list[str] = []
    for given in parameter.several():
        try:
            expand(object_type, (given.text.upper(),), parameter.word)
        except RefusalError as error:
            text = str(error).partition(": ")[2]
            raise MqscFaultError(text, given.begin, given.end, "AMQ8410E", Mqrccf.AUTH_VALUE_ERROR) from error
        words.append(given.text.upper())
    return tuple(words)


def _read_display_authority(reading: Reading) -> Statement:
    reading.head.bare()
    given = by_keyword(reading, ("PROFILE", "OBJTYPE", "ALL"))
    if "ALL" in given:
        given["ALL"].bare()
    profile = given["PROFILE"].one() if "PROFILE" in given else None
    object_type = one_of(given["OBJTYPE"], (*OBJECT_TYPES, "ALL")) if "OBJTYPE" in given else "ALL"
    change = DisplayAuthority("*" if profile is None else profile.text, None if object_type == "ALL" else object_type)
    return reading.statement(change, profile)


_READERS: Mapping[tuple[str, str], Reader] = MappingProxyType(
    {
        ("DEFINE", ""): read_define,
        ("ALTER", ""): read_alter,
        ("DELETE", ""): read_delete,
        ("CLEAR", "QLOCAL"): read_clear,
        ("CLEAR", "TOPICSTR"): read_clear_topic,
        ("DISPLAY", ""): _read_display,
        ("DISPLAY", "TPSTATUS"): read_topic_status,
        ("DISPLAY", "AUTHREC"): _read_display_authority,
        ("DISPLAY", "THREAD"): read_display_threads,
        ("RESOLVE", "INDOUBT"): read_resolve,
        ("SET", "AUTHREC"): _read_set_authority,
    }
)
"""The readers by verb and noun; an empty noun stands for all nouns of the verb that are not listed."""
