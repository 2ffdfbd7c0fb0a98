"""The conditions of DISPLAY (WHERE): whether a condition is valid, and whether an object meets it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from assay_broker.core.administration.changes import Comparison, Condition
from assay_broker.core.objects.attributes import Attribute, Choice, Flag, Number, attribute
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.objects.names import fits
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.objects.values import ValueFaultError, accepted
from assay_sdk.model.command_reasons import Mqrccf

_ORDER: dict[Comparison, Callable[[Any, Any], bool]] = {
    "LT": operator.lt,
    "GT": operator.gt,
    "EQ": operator.eq,
    "NE": operator.ne,
    "LE": operator.le,
    "GE": operator.ge,
}


def selected(definition: Definition, condition: Condition, host: Host) -> bool:
    """Return whether an object meets a condition; an object without the attribute does not.

    Args:
        definition: The object, with all attributes that DISPLAY shows.
        condition: The condition.
        host: The queue manager's platform and level.

    Raises:
        RefusalError: The attribute does not allow this comparison or value.
    """
    row = attribute(definition.kind, condition.keyword, zos=host.zos, level=host.level)
    if row is None:
        return False
    value = definition.attributes[row.keyword]
    if condition.comparison in {"LK", "NL"}:
        if not isinstance(value, str):
            raise _cannot(condition, "is a number; LK and NL compare only texts")
        return fits(value, str(condition.value)) is (condition.comparison == "LK")
    return _ORDER[condition.comparison](value, _comparable(row, condition))


def check_condition(kinds: tuple[Kind, ...], condition: Condition, host: Host) -> None:
    """Refuse a condition that does not fit any of these kinds of objects.

    Args:
        kinds: The kinds to display.
        condition: The condition.
        host: The queue manager's platform and level.

    Raises:
        RefusalError: None of these kinds has the attribute, or the attribute does not allow this comparison or value.
    """
    rows = [attribute(kind, condition.keyword, zos=host.zos, level=host.level) for kind in kinds]
    known = [row for row in rows if row is not None]
    if not known:
        raise _cannot(condition, f"is no attribute of a {' or '.join(kinds)}")
    for row in known:
        generic = condition.comparison in {"LK", "NL"}
        if isinstance(row.values, Choice | Flag) and condition.comparison not in {"EQ", "NE"}:
            raise _cannot(condition, "has words as values; compare them with EQ or NE")
        if isinstance(row.values, Number) and generic:
            raise _cannot(condition, "is a number; LK and NL compare only texts")
        if not generic:
            _comparable(row, condition)


def _comparable(row: Attribute, condition: Condition) -> Value:
    try:
        return accepted(row, condition.value)
    except ValueFaultError as fault:
        raise object_refusal(Mqrccf.ATTR_VALUE_ERROR, str(fault), keyword=condition.keyword) from fault


def _cannot(condition: Condition, why: str) -> Exception:
    return object_refusal(Mqrccf.PARM_SYNTAX_ERROR, f"{condition.keyword} {why}.", keyword=condition.keyword)
