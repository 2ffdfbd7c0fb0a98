"""The attributes of queue manager objects in the form of steps and MQSC: ``MAXDEPTH(1) PUT(DISABLED)``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay_adapters.ports.administration import (
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    Resolve,
    Scalar,
)

ATTRIBUTE = r"[A-Z]+\((?:'[^']*'|[^()']*)\)"
"""The form of an attribute in a step."""

NOUNS: Mapping[ObjectKind, str] = {
    ObjectKind.QUEUE: "QLOCAL",
    ObjectKind.ALIAS: "QALIAS",
    ObjectKind.MODEL: "QMODEL",
    ObjectKind.TOPIC: "TOPIC",
    ObjectKind.SUBSCRIPTION: "SUB",
    ObjectKind.QMGR: "QMGR",
}
"""MQSC's noun for each kind of object."""


def read_attributes(text: str) -> dict[str, Scalar]:
    """Return the attributes that a text states, by their keywords.

    As in MQSC, digits without quotation marks are a number. A blank value becomes an empty text.
    """
    found = re.findall(r"([A-Z]+)\((?:'([^']*)'|([^()']*))\)", text)
    return {
        keyword: int(bare) if bare.isdigit() else quoted.rstrip() or bare.strip() for keyword, quoted, bare in found
    }


def _parameters(attributes: Mapping[str, Scalar]) -> str:
    return "".join(f" {keyword}({_value(value)})" for keyword, value in attributes.items())


def _value(value: Scalar) -> str:
    plain = isinstance(value, int) or re.fullmatch(r"[A-Z0-9]+", value)
    return str(value) if plain else f"'{value or ' '}'"


def command_text(change: Change) -> str:
    """Return a change in the form of an MQSC command, for the reader of the journal."""
    match change:
        case Define() | Alter():
            return _definition_text(change)
        case Delete(kind=kind, name=name):
            return f"DELETE {NOUNS[kind]}('{name}') PURGE"
        case Clear(name=name):
            return f"CLEAR QLOCAL('{name}')"
        case Authorise():
            return _authority_text(change)
        case Resolve(unit=unit, commit=commit):
            return f"RESOLVE INDOUBT({unit}) ACTION({'COMMIT' if commit else 'BACKOUT'})"
        case _:
            return f"{type(change).__name__.upper()} {change.what}"


def _definition_text(change: Define | Alter) -> str:
    verb = type(change).__name__.upper()
    name = "" if change.kind is ObjectKind.QMGR else f"('{change.name}')"
    return f"{verb} {NOUNS[change.kind]}{name}{_parameters(change.attributes)}"


def _authority_text(change: Authorise) -> str:
    whom = f"{'GROUP' if change.group else 'PRINCIPAL'}('{change.user}')"
    added = f" AUTHADD({','.join(change.grant)})" if change.grant else ""
    removed = f" AUTHRMV({','.join(change.revoke)})" if change.revoke else ""
    return f"SET AUTHREC PROFILE('{change.name}') OBJTYPE({change.kind.value.upper()}) {whom}{added}{removed}"
