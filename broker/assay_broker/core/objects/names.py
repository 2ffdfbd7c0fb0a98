"""Names of objects: their validity, and generic names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay_broker.core.objects.model import Kind
from assay_broker.core.objects.reasons import object_refusal
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.message import Address, AddressKind

TEMPORARY_PREFIXES: Mapping[AddressKind, str] = {
    AddressKind.TEMPORARY_QUEUE: "AMQ.TEMPORARY.QUEUE.",
    AddressKind.TEMPORARY_TOPIC: "AMQ.TEMPORARY.TOPIC.",
}
"""The prefixes of the names of temporary destinations, by kind."""


def by_name(address: Address) -> Address:
    """Return the address of a temporary destination with its temporary kind; return any other address unchanged.

    The prefix of the name shows the kind. A client that sends a reply may know only the name of a temporary queue
    (JMS 2.0, 6.2.2).

    Args:
        address: The address that the client gave, such as a queue with the name of a temporary queue.
    """
    for kind, prefix in TEMPORARY_PREFIXES.items():
        if address.kind is not kind and address.name.startswith(prefix):
            return Address(kind, address.name)
    return address


LONGEST_NAME = 48
LONGEST_SUBSCRIPTION = 10_240
LONGEST_ZOS_QUEUE_MANAGER = 4
_VALID = re.compile(r"[A-Za-z0-9._/%]+")

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

_RULE = "letters, digits, period, slash, underscore and per cent sign"


def name_fault(name: str, longest: int = LONGEST_NAME) -> str | None:
    """Return the fault of an object's name, as the end of a sentence; None if the name is valid.

    Args:
        name: The name, case-sensitive.
        longest: The highest number of characters.
    """
    if not name:
        return "is empty"
    if len(name) > longest:
        return f"has {len(name)} characters; a name has at most {longest}"
    if _VALID.fullmatch(name) is None:
        odd = next(letter for letter in name if _VALID.match(letter) is None)
        return f"contains {odd!a}; a name consists of {_RULE}"
    return None


def check_name(kind: Kind, name: str) -> None:
    """Refuse a name that is not valid for this kind of object.

    Args:
        kind: The object's kind.
        name: The name; for a subscription, a text of up to 10,240 bytes that is not blank and has no control
            characters.

    Raises:
        RefusalError: The name is not valid.
    """
    fault = _subscription_fault(name) if kind is Kind.SUB else name_fault(name)
    if fault is not None:
        raise object_refusal(Mqrccf.OBJECT_NAME_ERROR, f"The name {shortened(name)} {fault}.", name[:LONGEST_NAME])


def _subscription_fault(name: str) -> str | None:
    if not name.strip():
        return "is blank"
    if _UNPRINTABLE.search(name) is not None:
        return "contains a control character"
    size = len(name.encode())
    return f"has {size} bytes; at most {LONGEST_SUBSCRIPTION} are allowed" if size > LONGEST_SUBSCRIPTION else None


def check_queue_manager_name(name: str, *, zos: bool) -> None:
    """Refuse a queue manager's name that is not valid.

    Raises:
        RefusalError: The name is empty, has a character that is not allowed, or has more than 48 characters. Or, on
            z/OS, it has more than 4 characters, is not in upper case, or does not begin with a letter.
    """
    fault = name_fault(name, LONGEST_ZOS_QUEUE_MANAGER if zos else LONGEST_NAME)
    if fault is None and zos and (name != name.upper() or not name[0].isalpha()):
        fault = "must be in upper case and begin with a letter on z/OS"
    if fault is not None:
        raise object_refusal(
            Mqrccf.OBJECT_NAME_ERROR, f"The queue manager's name {shortened(name)} {fault}.", name[:48]
        )


def shortened(text: str) -> str:
    """Return a text in quotation marks, for use in a sentence; a longer text is cut after 60 characters."""
    longest = 60
    return f'"{text}"' if len(text) <= longest else f'"{text[:longest]}..."'


def is_generic(name: str) -> bool:
    """Return whether a name is generic: it ends in ``*``, and matches all names that begin with the text before it."""
    return name.endswith("*")


def fits(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern.

    Args:
        name: The name.
        pattern: A name, or a generic name with ``*`` at its end.
    """
    return name.startswith(pattern[:-1]) if is_generic(pattern) else name == pattern
