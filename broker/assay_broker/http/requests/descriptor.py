"""The message descriptor in HTTP headers, with IBM MQ's names and forms.

The forms depend on the version of the interface.  Before v3, ids are 48 hexadecimal digits and the priority is 4.
Since v3, ids begin with ``ID:`` (a correlation id may be any text), and priority and properties have headers.

"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from urllib.parse import quote

from msgspec import Struct
from starlette.datastructures import Headers

from assay_broker.core.messages.descriptor import ID_BYTES, Described, native_id
from assay_broker.http.requests.problems import Faults, HttpProblem
from assay_sdk.model.message import Address, AddressKind, Message, Property

MESSAGE_ID = "ibm-mq-md-messageId"
CORRELATION_ID = "ibm-mq-md-correlationId"
EXPIRY = "ibm-mq-md-expiry"
PERSISTENCE = "ibm-mq-md-persistence"
PRIORITY = "ibm-mq-md-priority"
REPLY_TO = "ibm-mq-md-replyTo"
PROPERTIES = "ibm-mq-usr"
DELAY = "assay-delivery-delay"
"""Extension of the kit: the delivery delay of a native put; the queue manager refuses a delay above 0 (DD-20)."""

LEFT_OUT = "assay-properties-left-out"
"""Extension of the kit: the number of a message's properties that the answer does not show."""

_HEADERS = (MESSAGE_ID, CORRELATION_ID, EXPIRY, PERSISTENCE, PRIORITY, REPLY_TO, PROPERTIES, DELAY)
_OURS = ("ibm-mq-md-", "ibm-mq-usr", "assay-")
"""The prefixes of the names of headers that describe a message."""

LONGEST_EXPIRY_MS = 99_999_999_900
AS_DESTINATION = "asDestination"
_LONGEST_DELAY_MS = 2**63 - 1
_DEFAULT_PRIORITY = 4
_HIGHEST_PRIORITY = 9
_TENTH_MS = 100
_HEX_DIGITS = re.compile(r"[0-9a-fA-F]{48}")
_DIGITS = re.compile(r"[0-9]{1,19}")
_PERSISTENCE: Mapping[str, bool | None] = {"nonPersistent": False, "persistent": True, AS_DESTINATION: None}


class Version(Struct, frozen=True):
    """A version of the REST interface.

    Args:
        name: The version's name in paths.
        prefixed: Whether ids begin with ``ID:``, and priority and properties have headers, as since v3.
    """

    name: str
    prefixed: bool


VERSIONS: Mapping[str, Version] = {name: Version(name, prefixed=name == "v3") for name in ("v1", "v2", "v3")}


def new_id(manager: str) -> str:
    """Return a new message id in IBM MQ's form: ``AMQ``, the queue manager's name, and eight random bytes."""
    octets = b"AMQ " + manager.encode(errors="replace")[:12].ljust(12) + secrets.token_bytes(8)
    return f"ID:{octets.hex().upper()}"


def given_id(version: Version, value: str, what: str) -> bytes:
    """Return the bytes of an id in a header or in the query.

    Args:
        version: The version of the interface.
        value: The id as text.
        what: The name of the header or parameter, for the error.

    Raises:
        HttpProblem: The text is not a valid id in this version.
    """
    return native_id(_id_text(version, value, what, Faults.QUERY))


def _id_text(version: Version, value: str, what: str, fault: Faults) -> str:
    digits = value.removeprefix("ID:")
    if _HEX_DIGITS.fullmatch(digits):
        return f"ID:{digits.upper()}"
    if version.prefixed and value and not value.startswith("ID:"):
        return value
    raise HttpProblem(fault, f"{what} must be {2 * ID_BYTES} hexadecimal digits.")


def drafted(
    version: Version, headers: Headers, to: Address, body: str | bytes, *, manager: str, now_ms: int
) -> Message:
    """Return the message that a request puts or publishes.

    Args:
        version: The version of the interface.
        headers: The headers of the request.
        to: The destination.
        body: The message's body.
        manager: The queue manager's name.
        now_ms: The time, in milliseconds since the epoch.

    Raises:
        HttpProblem: A header that describes the message is unknown, or its value is not valid.
    """
    _check_names(headers)
    correlation = headers.get(CORRELATION_ID)
    if correlation is not None:
        correlation = _id_text(version, _text_of(correlation), CORRELATION_ID, Faults.HEADER)
    return Message(
        message_id=new_id(manager),
        correlation_id=correlation,
        to=to,
        reply_to=_reply_to(headers.get(REPLY_TO), manager),
        durable=_persistence(headers.get(PERSISTENCE, "nonPersistent")),
        priority=_priority(version, headers.get(PRIORITY)),
        ttl_ms=_expiry(headers.get(EXPIRY, "unlimited")),
        creation_ms=now_ms,
        properties=dict(_properties(version, headers)),
        body=body,
    )


def _text_of(header: str) -> str:
    """Return a header's text, decoded from UTF-8; Starlette decodes every header from ISO 8859-1."""
    return header.encode("latin-1").decode("utf-8", "replace")


def _check_names(headers: Headers) -> None:
    """Check that every header that describes a message is known, because a misspelt header would have no effect.

    Raises:
        HttpProblem: A header is unknown.
    """
    known = {name.lower(): name for name in _HEADERS}
    for name in headers:
        if name.startswith(_OURS) and name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {known[close[0]]}?" if close else f"the headers are {', '.join(known.values())}."
            raise HttpProblem(Faults.HEADER, f"The header {name[:60]!a} is unknown; {hint}")


def delay_ms(headers: Headers) -> int | None:
    """Return the delivery delay of a native put, in milliseconds; None if the request has no such header.

    Raises:
        HttpProblem: The header's value is not a whole number, or too large.
    """
    given = headers.get(DELAY)
    if given is None:
        return None
    return _number(DELAY, given, 0, _LONGEST_DELAY_MS, "milliseconds")


def _number(name: str, given: str, lowest: int, highest: int, what: str) -> int:
    if _DIGITS.fullmatch(given) is None or not lowest <= int(given) <= highest:
        raise HttpProblem(Faults.HEADER, f"{name} must be {what} from {lowest} to {highest}, not {given[:40]!a}.")
    return int(given)


def _expiry(given: str) -> int | None:
    if given == "unlimited":
        return None
    return _number(EXPIRY, given, 1, LONGEST_EXPIRY_MS, "unlimited, or milliseconds")


def _persistence(given: str) -> bool | None:
    if given not in _PERSISTENCE:
        raise HttpProblem(Faults.HEADER, f"{PERSISTENCE} must be {' or '.join(_PERSISTENCE)}, not {given[:40]!a}.")
    return _PERSISTENCE[given]


def _priority(version: Version, given: str | None) -> int | None:
    if given is not None and not version.prefixed:
        raise HttpProblem(Faults.HEADER, f"{PRIORITY} needs v3 of this interface; before v3 the priority is 4.")
    if given is None or given == AS_DESTINATION:
        return None if version.prefixed else _DEFAULT_PRIORITY
    return _number(PRIORITY, given, 0, _HIGHEST_PRIORITY, f"{AS_DESTINATION}, or a number")


def _reply_to(given: str | None, manager: str) -> Address | None:
    if given is None:
        return None
    queue, _, other = given.partition("@")
    if not queue or other not in {"", manager}:
        raise HttpProblem(Faults.HEADER, f"{REPLY_TO} must be QUEUE or QUEUE@{manager}.")
    return Address(AddressKind.QUEUE, queue)


# properties ----------------------------------------------------------------------------------------------------------

_PROPERTY = re.compile(
    r"""\s*(?P<name>[^;,"\s]+)\s*;\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^;,"]*?))\s*;\s*(?P<type>\w+)\s*(?:,|$)"""
)
_NAME = re.compile(r"""[^;,"\s]+""")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
"""The octets that a header's value must not contain (RFC 9110, 5.5)."""
_BETWEEN = ", "
_WHOLE = {"byte": 8, "short": 16, "integer": 32, "int": 32, "long": 64, "i1": 8, "i2": 16, "i4": 32, "i8": 64}
_REAL = frozenset({"float", "double", "r4", "r8"})


def _properties(version: Version, headers: Headers) -> Iterator[tuple[str, Property]]:
    """Yield the properties in a request's headers, each written as ``name;value;type`` and separated by commas.

    Raises:
        HttpProblem: The version is older than v3, or a property is not valid.
    """
    for line in headers.getlist(PROPERTIES):
        if not version.prefixed:
            raise HttpProblem(Faults.HEADER, f"{PROPERTIES} needs v3 of this interface.")
        text, at = _text_of(line), 0
        while at < len(text):
            found = _PROPERTY.match(text, at)
            if found is None:
                raise HttpProblem(Faults.HEADER, f"{PROPERTIES} must be name;value;type, not {text[at : at + 40]!a}.")
            yield found["name"], _value(found)
            at = found.end()


def _value(found: re.Match[str]) -> Property:
    kind, quoted = found["type"].lower(), found["quoted"]
    text = found["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    if kind == "string":
        return text
    try:
        if kind == "boolean":
            return {"true": True, "false": False}[text.lower()]
        if kind in _REAL:
            return float(text)
        bound = 1 << (_WHOLE[kind] - 1)
        number = int(text[:20])
        if -bound <= number < bound and len(text) <= len(str(bound)) + 1:
            return number
    except (KeyError, ValueError):
        pass
    raise HttpProblem(Faults.HEADER, f"In {PROPERTIES}, {text[:40]!a} is not of type {kind[:20]}.")


def _written(name: str, value: Property) -> str | None:
    """Return a property in the header's form; None if the header cannot express its name or type."""
    if _NAME.fullmatch(name) is None:
        return None
    if isinstance(value, bool):
        return f"{name};{str(value).lower()};boolean"
    if isinstance(value, int):
        return f"{name};{value};long"
    if isinstance(value, float):
        return f"{name};{value!r};double"
    if not isinstance(value, str):
        return None
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name};"{escaped}";string'


# answers -------------------------------------------------------------------------------------------------------------


def shown_id(version: Version, digits: object) -> str:
    """Return an id in the form that it has in answers of this version.

    Args:
        version: The version of the interface.
        digits: The id's hexadecimal digits.
    """
    return f"ID:{digits}" if version.prefixed else str(digits)


def answer_headers(version: Version, described: Described, longest: int) -> dict[str, str]:
    """Return a message's descriptor and properties as headers of an answer.

    Args:
        version: The version of the interface.
        described: The message.
        longest: The most octets for all properties together.  The answer omits properties beyond this limit, and
            properties that a header cannot express; the header `LEFT_OUT` has their number.
    """
    fields, message = described.descriptor, described.message
    expiry = int(fields["Expiry"])
    headers = {
        MESSAGE_ID: shown_id(version, fields["MsgId"]),
        EXPIRY: "unlimited" if expiry < 0 else str(expiry * _TENTH_MS),
        PERSISTENCE: "persistent" if fields["Persistence"] else "nonPersistent",
    }
    if str(fields["CorrelId"]).strip("0"):
        headers[CORRELATION_ID] = shown_id(version, fields["CorrelId"])
    if fields["ReplyToQ"]:
        headers[REPLY_TO] = quote(str(fields["ReplyToQ"]), safe="%/.:@!$&'()*+,;=-_~ ")
    if version.prefixed:
        headers[PRIORITY] = str(fields["Priority"])
        headers |= _property_headers(message.properties, longest)
    return headers


def _property_headers(properties: Mapping[str, Property], longest: int) -> dict[str, str]:
    written: list[str] = []
    room = longest
    for name, value in properties.items():
        one = _written(name, value)
        octets = b"" if one is None else one.encode(errors="replace")
        if octets and _CONTROL.search(octets) is None and len(octets) <= room:
            written.append(octets.decode("latin-1"))
            room -= len(octets) + len(_BETWEEN)
    headers = {PROPERTIES: _BETWEEN.join(written)} if written else {}
    left_out = len(properties) - len(written)
    return headers | ({LEFT_OUT: str(left_out)} if left_out else {})
