"""A message as an administrator sees it: its descriptor (MQMD), headers and body.

Names of fields and numbers are those of IBM MQ (``cmqc.h``); ids are 48 hexadecimal digits. IBM does not document the
header of a staged message (MQDDH), so its fields are an invention of this broker.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.entries import Entry
from assay_broker.core.messages.reports import options
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Value
from assay_broker.core.queues.homes import name_at
from assay_sdk.model.message import Message, Property

ID_BYTES = 24
"""The length of MsgId and CorrelId, in bytes."""
_PREFIX = "ID:"
_DATAGRAM = 8
_NUMBER_BITS = 22
_TENTH_MS = 100
_UNLIMITED = -1
_JAVA = 28  # MQAT_JAVA: a JMS client has put the message
_IN_GROUP, _LAST_IN_GROUP = 8, 16


class Described(Struct, frozen=True, kw_only=True):
    """A message with its descriptor and headers.

    Args:
        descriptor: The MQMD fields by name.
        headers: The fields of each header in front of the body, the outermost header first.
        message: The message.
    """

    descriptor: dict[str, Value]
    headers: tuple[dict[str, Value], ...]
    message: Message


def native_id(text: str | None) -> bytes:
    """Return the 24 bytes of MsgId or CorrelId for a JMS id.

    48 hexadecimal digits, usually after ``ID:``, stand for the bytes that they encode, as in IBM MQ. Any other text of
    up to 24 bytes is padded with zero bytes. A longer text is replaced by the first 24 bytes of its SHA-256. None and
    an empty text give 24 zero bytes.
    """
    if not text:
        return bytes(ID_BYTES)
    digits = text.removeprefix(_PREFIX)
    if len(digits) == 2 * ID_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        return bytes.fromhex(digits)
    octets = text.encode(errors="surrogatepass")
    return octets.ljust(ID_BYTES, b"\0") if len(octets) <= ID_BYTES else sha256(octets).digest()[:ID_BYTES]


def made_id(manager: str, moment_ms: int, number: int) -> str:
    """Return a new message id in IBM MQ's form: ``AMQ``, the queue manager's name, and eight unique bytes.

    Args:
        manager: The queue manager's name.
        moment_ms: The time, in milliseconds since the epoch.
        number: A number that the queue manager uses only once between two starts.
    """
    differing = (moment_ms << _NUMBER_BITS | number % (1 << _NUMBER_BITS)) % (1 << 64)
    octets = b"AMQ " + manager.encode(errors="replace")[:12].ljust(12) + differing.to_bytes(8, "big")
    return _PREFIX + octets.hex().upper()


def own_id(message: Message, manager: str, entry: Entry) -> str:
    """Return a copy's message id: the sender's id, or a new id if the sender gave none."""
    return message.message_id or made_id(manager, entry.arrived_ms, entry.key)


def staged_id(manager: str, entry: Entry) -> str:
    """Return the new message id that a staged copy has on the staging queue (DD-37)."""
    return made_id(manager, entry.arrived_ms, entry.key)


def shown_ids(entry: Entry, manager: str) -> tuple[bytes, bytes]:
    """Return MsgId and CorrelId of a message on its queue, 24 bytes each.

    On the staging queue, a message has a new MsgId, and its own id as its CorrelId (DD-37).
    """
    message = entry.message
    if entry.due_ms is None:
        return native_id(own_id(message, manager, entry)), native_id(message.correlation_id)
    return native_id(staged_id(manager, entry)), native_id(own_id(message, manager, entry))


def describe(entry: Entry, manager: str, now_ms: int) -> Described:
    """Return a message on its queue with its descriptor and headers.

    A staged message has a delay header (DD-05) and a new id (DD-37). A message that the queue manager has put on the
    dead-letter queue has a dead-letter header.

    Args:
        entry: The copy of the message.
        manager: The queue manager's name.
        now_ms: The time, in milliseconds since the epoch.
    """
    message = opened(entry.message)
    fields = _descriptor(message, entry, now_ms)
    headers: list[dict[str, Value]] = []
    message_id, correlation_id = shown_ids(entry, manager)
    fields["MsgId"] = message_id.hex()
    if entry.due_ms is not None:
        fields["CorrelId"] = correlation_id.hex()
        fields["Format"] = "MQDDH"
        headers.append(_delay_header(entry, entry.due_ms, manager))
    if entry.dead is not None:
        fields["Format"] = "MQDEAD"
        headers.append(
            {
                "StrucId": "DLH",
                "Version": 1,
                "Reason": entry.dead.reason,
                "DestQName": entry.dead.queue,
                "DestQMgrName": entry.dead.manager,
                "Format": _format(message),
                "PutApplType": _JAVA,
                "PutTime": entry.dead.put_ms,
            }
        )
    return Described(descriptor=fields, headers=tuple(headers), message=message)


def _delay_header(entry: Entry, due_ms: int, manager: str) -> dict[str, Value]:
    return {
        "StrucId": "DDH",
        "Version": 1,
        "DestQName": name_at(entry.home) or entry.home,
        "DestQMgrName": manager,
        "DeliveryDelay": due_ms - (entry.message.creation_ms or entry.arrived_ms),
        "DeliveryTime": due_ms,
        "MsgId": native_id(own_id(entry.message, manager, entry)).hex(),
        "CorrelId": native_id(entry.message.correlation_id).hex(),
        "StagingQName": STAGING_QUEUE,
    }


def _format(message: Message) -> str:
    """Return the format of a body: the property JMS_IBM_Format, or the format that IBM MQ's JMS client sets.

    The JMS client sets MQFMT_STRING for a text and MQFMT_NONE for bytes.
    """
    return _text(message.properties.get("JMS_IBM_Format")) or ("MQSTR" if isinstance(message.body, str) else "")


def _descriptor(message: Message, entry: Entry, now_ms: int) -> dict[str, Value]:
    expiry = _UNLIMITED if entry.expires_ms is None else max(0, -((now_ms - entry.expires_ms) // _TENTH_MS))
    flags = 0 if message.group_id is None else _IN_GROUP
    if message.properties.get("JMS_IBM_Last_Msg_In_Group"):
        flags |= _IN_GROUP | _LAST_IN_GROUP
    return {
        "StrucId": "MD",
        "Version": 2,
        "Report": int(options(message)),
        "MsgType": _number(message.properties.get("JMS_IBM_MsgType"), _DATAGRAM),
        "Expiry": expiry,
        "Feedback": _number(message.properties.get("JMS_IBM_Feedback"), 0),
        "Format": _format(message),
        "Priority": entry.priority,
        "Persistence": int(bool(message.durable)),
        "MsgId": native_id(message.message_id).hex(),
        "CorrelId": native_id(message.correlation_id).hex(),
        "BackoutCount": entry.count,
        "ReplyToQ": "" if message.reply_to is None else message.reply_to.name,
        "PutApplType": _JAVA,
        "PutTime": entry.arrived_ms,
        "GroupId": native_id(message.group_id).hex(),
        "MsgSeqNumber": message.group_sequence or 1,
        "MsgFlags": flags,
    }


def _number(value: Property, default: int) -> int:
    return value if isinstance(value, int) else default


def _text(value: Property) -> str:
    return value.strip() if isinstance(value, str) else ""
