"""Names of objects: validity, and match with generic names."""

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
"""The prefixes of temporary destinations' names, which identify them wherever they occur."""


def by_name(address: Address) -> Address:
    """Return a temporary destination with its own kind; a client that replies may know only its name (JMS 6.2.2).

    Args:
        address: As a client wrote it, such as a queue with a temporary queue's name.
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
    """Return what is wrong with an object's name, as the end of a sentence; None if it is valid.

    Args:
        name: The name, case-sensitive.
        longest: The highest number of characters.
    """
    if not name:
        return "is empty"
    if len(name) > longest:
        return f"has {len(name)} characters, and a name has at most {longest}"
    if _VALID.fullmatch(name) is None:
        odd = next(letter for letter in name if _VALID.match(letter) is None)
        return f"holds {odd!a}, and a name is made of {_RULE}"
    return None


def check_name(kind: Kind, name: str) -> None:
    """Refuse a name that is not valid for this kind of object.

    Args:
        kind: The object's kind.
        name: The name; a subscription's is any text of up to 10,240 bytes.

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
        return "holds a control character"
    size = len(name.encode())
    return f"has {size} bytes, and at most {LONGEST_SUBSCRIPTION} are allowed" if size > LONGEST_SUBSCRIPTION else None


def check_queue_manager_name(name: str, *, zos: bool) -> None:
    """Refuse a queue manager's name: at most 48 characters, on z/OS at most 4 in upper case.

    Raises:
        RefusalError: The name is not valid.
    """
    fault = name_fault(name, LONGEST_ZOS_QUEUE_MANAGER if zos else LONGEST_NAME)
    if fault is None and zos and (name != name.upper() or not name[0].isalpha()):
        fault = "is not in upper case with a letter in front, as on z/OS it must be"
    if fault is not None:
        raise object_refusal(
            Mqrccf.OBJECT_NAME_ERROR, f"The queue manager's name {shortened(name)} {fault}.", name[:48]
        )


def shortened(text: str) -> str:
    """Return a text in quotes for a sentence, cut if it is long."""
    longest = 60
    return f'"{text}"' if len(text) <= longest else f'"{text[:longest]}..."'


def is_generic(name: str) -> bool:
    """Return whether a name stands for all names with this beginning."""
    return name.endswith("*")


def fits(name: str, pattern: str) -> bool:
    """Return whether a name equals a pattern, or begins as a generic one.

    Args:
        name: The name.
        pattern: A name, or a generic one with ``*`` at its end.
    """
    return name.startswith(pattern[:-1]) if is_generic(pattern) else name == pattern
