"""Check a client's frames before the engine sees them.

Frames are cut from the stream, so that the engine gets whole ones only. Attaches are read with all their fields,
because the engine does not know some of them.

Two kinds of input would stop the engine: deep nesting (its decoder recurses) and ranges of billions of deliveries (it
counts through them). Other errors it accepts although the specification demands an error: a second open, a channel or
handle in use, a handle without a link.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from assay_broker.amqp.conditions import (
    BAD_FIELD,
    DECODE_ERROR,
    FRAMING_ERROR,
    HANDLE_IN_USE,
    ILLEGAL_STATE,
    NOT_ALLOWED,
    RESOURCE_LIMIT,
    UNATTACHED_HANDLE,
    WINDOW_VIOLATION,
    Condition,
)
from assay_broker.amqp.frames import editing, transfers
from assay_broker.amqp.frames.attaches import NAME, Attach, UnreportedFields
from assay_broker.amqp.frames.errors import ProtocolError
from assay_broker.amqp.frames.fields import HEAD_SIZE, SHORT, acquires, leading, symbols
from assay_broker.amqp.frames.reading import performative
from assay_broker.amqp.frames.windows import IncomingWindows
from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME, HEADER_SIZE, frame
from assay_sdk.amqp.types import DecodeError

_OPEN, _BEGIN, _ATTACH, _FLOW, _TRANSFER, _DISPOSITION, _DETACH, _END, _CLOSE = range(0x10, 0x19)
_MIN_OFFSET = 2
_RANGE = 1 << 20
"""Deliveries that one disposition may be about."""
_LONGEST_FOR_SEVERAL = 4_096
"""Octets of a disposition of several deliveries: the engine keeps its state for each of them."""
_WRAP = 1 << 32
_HEAD = bytes((0x00, 0x53))
"""The head of a performative with a small numeric descriptor, as all clients write it."""
_PLAIN_TRANSFER = bytes((*_HEAD, _TRANSFER, 0xC0))
"""The head of a transfer whose list of fields is short."""
_BEHIND_HANDLE = {0x43: 15, 0x52: 16}
"""Where a transfer's second field is in its frame, by the format of a handle of at most one octet."""
_USUAL_END = 16
_NOTHING_USUAL = b"", b""
_LENGTH = struct.Struct(">I").unpack_from
_FIRST, _LAST = 1, 2
_HANDLE, _HANDLE_OF_FLOW = 0, 4
_REMOTE_CHANNEL, _HANDLE_MAX, _MOST_HANDLES = 0, 4, (1 << 32) - 1
_CREDIT, _MOST_CREDIT = 6, 1 << 30
_DRAIN, _ECHO = 8, 9
_CONTAINER, _MAX_FRAME_SIZE, _IDLE_TIMEOUT, _DESIRED = 0, 2, 4, 8
_LEAST_FRAME = 512
_MOST_RESUMED = 1_024
_LEAST_IDLE_MS = 100
"""Shortest idle time-out that is accepted: shorter ones would keep the server busy with heartbeats (2.4.5)."""


_Handles = dict[int, Attach]
"""Attached links by handle."""


class FrameValidator:
    """The checks of one connection's input.

    Args:
        limits: Limits for the client.
    """

    def __init__(self, limits: AmqpLimits) -> None:
        self.attaches: deque[Attach] = deque()
        """The fields of attaches, in order; the receiver of the engine's events takes the first for each link opened.
        """
        self.begins: deque[int] = deque()
        """The channels of begins, in order; the receiver of the engine's events takes the first for each session."""
        self._most_handles: dict[int, int] = {}
        """The highest handle that the client takes, by channel (2.7.2)."""
        self.faults: deque[tuple[int, Condition]] = deque()
        """The channels of sessions to be ended, and why."""
        self.echoes: deque[int] = deque()
        """The channels of sessions whose client has asked for a flow."""
        self._windows = IncomingWindows(limits.session_frames)
        self.desired: tuple[str, ...] = ()
        """Desired capabilities of the client's open."""
        self._max_frame = limits.max_frame
        self._most_channels = limits.sessions
        self._max_performative = limits.max_performative
        """All of a performative is decoded while others wait, and much of it is kept while a link is attached."""
        self._rest = b""
        self._header_due = True
        self._opened = False
        self._closing = False
        self._instead = b""
        """What the engine gets instead of the frame."""
        self._renamed = 0
        self._usual = _NOTHING_USUAL
        """Where the last plain transfer has its kind and its link.

        As long as no link comes or goes, a frame with the same octets there passes, if it is a whole delivery.
        """
        self._is_plain = transfers.plain(4)
        self._behind_handle = 0
        """With `_is_plain`: where the other fields of such a transfer begin, and whether they are plain."""
        self._handles: dict[int, _Handles | None] = {}
        """Handles in use, by channel; None for a session that has broken the protocol and must be ended."""

    def may_exceed_windows(self, octets: bytes) -> bool:
        """Whether the next octets may hold more transfers than a session's window has room for."""
        return self._windows.may_be_exceeded(self._rest, octets, HEADER_SIZE if self._header_due else 0)

    def limit(self, windows: dict[int, int]) -> None:
        """Count the transfers among the octets that come next.

        Args:
            windows: How many of them the engine takes, by channel.
        """
        self._windows.left = windows
        self._usual = _NOTHING_USUAL

    def feed(self, octets: bytes) -> bytes:
        """Take octets. Return whole frames for the engine.

        Raises:
            ProtocolError: A frame is not to be had; nothing of this call is given back, and the stream is over.
        """
        data = self._rest + octets if self._rest else octets
        size, at, kept_from = len(data), 0, 0
        look = self._look_for_close if self._closing else self._look
        kept: list[bytes] = []
        self._windows.fresh.clear()
        if self._header_due:
            if size < HEADER_SIZE:
                self._rest = data
                return b""
            self._header_due = False
            if not data.startswith(b"AMQP"):
                raise ProtocolError(FRAMING_ERROR, "it does not begin with a protocol header")
            at = HEADER_SIZE  # the engine checks the version
        while size - at >= HEADER_SIZE:
            (length,) = _LENGTH(data, at)
            if not HEADER_SIZE <= length <= self._max_frame:
                raise ProtocolError(
                    FRAMING_ERROR, f"a frame of {length} octets, and {self._max_frame} are taken at most"
                )
            if size - at < length:
                break
            if (
                length > _USUAL_END
                and (data[at + 4 : at + 12], data[at + 13 : at + 16]) == self._usual
                and self._is_plain(data, at + self._behind_handle, at + length)
            ):
                pass  # one more message
            elif length > HEADER_SIZE and not look(data, at, at + length):
                kept += (data[kept_from:at], self._instead)
                self._instead = b""
                kept_from = at + length
            at += length
        self._rest = data[at:]
        self._windows.left = None
        if kept:
            return b"".join((*kept, data[kept_from:at]))
        return data[:at] if self._rest else data

    def await_close(self) -> None:
        """Ignore everything but the client's close, because the server has closed the connection (2.4.6)."""
        self._closing = True
        self._usual = _NOTHING_USUAL

    def _look_for_close(self, data: bytes, begin: int, end: int) -> bool:
        """Check a frame after our close. Before the client's open, its open counts too."""
        body = begin + data[begin + 4] * 4
        is_plain = end - body > HEAD_SIZE and data.startswith(_HEAD, body, end)
        return (not is_plain or data[body + 2] in {_OPEN, _CLOSE}) and self._look(data, begin, end)

    def _look(self, data: bytes, begin: int, end: int) -> bool:  # noqa: C901  one branch a frequent frame
        """Check a frame. Return whether the engine gets it unchanged."""
        offset, kind = data[begin + 4], data[begin + 5]
        body = begin + offset * 4
        if offset < _MIN_OFFSET or body > end or kind != AMQP_FRAME:
            raise ProtocolError(FRAMING_ERROR, f"a frame of type {kind} with its body at {offset * 4}")
        if body == end:
            return True  # a heartbeat
        channel = data[begin + 6] << 8 | data[begin + 7]
        if channel >= self._most_channels:
            raise ProtocolError(FRAMING_ERROR, f"channel {channel}, and {self._most_channels - 1} is the highest")
        code = data[body + 2] if data.startswith(_HEAD, body, end) and end - body > HEAD_SIZE else 0
        if code == _TRANSFER:
            handle = transfers.handle_of_plain(data, body, end)
            if handle is not None and self._takes_plain(channel, handle):
                return self._has_room(channel) and self._remember(data, begin)
            said = transfers.scan(data, body, end)
            if said is not None and said.handle is not None and channel in self._handles:
                return self._transfer(channel, said)
        elif code == _DISPOSITION and end - body <= SHORT:
            (_, first, last, *_), _ = leading(data, body)
            if type(first) is int and type(last) is not bool:
                return self._disposes(channel, first, last)
        elif code == _FLOW and end - body <= SHORT:
            flow, is_all = leading(data, body)
            handle = flow[_HANDLE_OF_FLOW]
            if is_all and handle is not None and (flow[_CREDIT] or 0) <= _MOST_CREDIT:
                if flow[_DRAIN] or flow[_ECHO]:
                    self._wish(channel, handle, drain=bool(flow[_DRAIN]), echo=bool(flow[_ECHO]))
                return self._has(channel, handle)
        if code not in {_TRANSFER, 0} and end - body > self._max_performative:
            raise ProtocolError(
                RESOURCE_LIMIT,
                f"a frame of {end - begin} octets that is no transfer, and {self._max_performative} are taken",
            )
        return self._read(channel, data[body : min(end, body + self._max_performative)])

    # --- frequent frames: only their first fields are read

    def _has(self, channel: int, handle: int | None) -> bool:
        """Whether the handle of a transfer or flow is attached; a flow may have none."""
        handles = self._handles.get(channel, _NONE)
        if handles is None:
            return False
        if handle is None or handle in handles or handles is _NONE:
            return True  # without a session the engine reports the error
        return self._fault(channel, UNATTACHED_HANDLE, f"Nothing is attached to handle {handle}.")

    def _takes_plain(self, channel: int, handle: int) -> bool:
        """Whether a whole delivery may arrive on a link: the client sends, and no other delivery is incomplete."""
        attach = (self._handles.get(channel) or _NONE).get(handle)
        return attach is not None and not attach.receives and attach.unreported.begun is None

    def _remember(self, data: bytes, begin: int) -> bool:
        """Remember the beginning of a plain transfer, if it identifies the link."""
        head, fields = usual = data[begin + 4 : begin + 12], data[begin + 13 : begin + 16]
        behind = _BEHIND_HANDLE.get(fields[1]) if self._windows.left is None else None
        if behind is not None and head[0] == _MIN_OFFSET and head.endswith(_PLAIN_TRANSFER):
            self._usual, self._is_plain, self._behind_handle = usual, transfers.plain(fields[0]), behind
        return True

    def _sending(self, channel: int, handle: int | None) -> Attach | None:
        """Return the link of a transfer; None if its session ends for an error."""
        handles = self._handles[channel]
        attach = None if handles is None or handle is None else handles.get(handle)
        if attach is None:
            self._has(channel, handle)
            return None
        if attach.receives:
            self._fault(channel, NOT_ALLOWED, f"The peer is the receiver of the link at handle {handle}.")
            return None
        return attach

    def _has_room(self, channel: int) -> bool:
        """Whether a session's window has room for one more transfer (2.5.6)."""
        return self._windows.has_room(channel) or self._fault(
            channel, WINDOW_VIOLATION, "More was sent than the session's window had room for."
        )

    def _transfer(self, channel: int, said: transfers.Transfer) -> bool:
        """Check a transfer that is not plain, or belongs to a delivery of several transfers."""
        self._usual = _NOTHING_USUAL
        attach = self._sending(channel, said.handle)
        if attach is None or not self._has_room(channel):
            return False
        if said.second:
            return self._fault(channel, BAD_FIELD, "A transfer is to be settled second on a link that settles first.")
        unreported, delivery = attach.unreported, said.delivery
        if unreported.begun is None and delivery.number is None:
            return self._fault(channel, BAD_FIELD, "The first transfer of a delivery has no delivery-id (2.7.5).")
        if said.resume and delivery.tag is not None:
            if len(delivery.tag) > transfers.LONGEST_TAG or len(unreported.marked) >= _MOST_RESUMED:
                return self._fault(
                    channel, BAD_FIELD, "Deliveries are resumed with too long tags, or too many at a time."
                )
            # The server keeps no unsettled deliveries of a link that has gone, so it does not know this one (2.6.13).
            unreported.marked.setdefault(delivery.tag, None)
        flaw = transfers.flaw(delivery, unreported.begun)
        if flaw is not None:
            unreported.mark(delivery if unreported.begun is None else unreported.begun, flaw)
        unreported.begun = (unreported.begun or delivery) if said.more and not said.aborted else None
        return True

    def _wish(self, channel: int, handle: int | None, *, drain: bool = False, echo: bool = False) -> None:
        """Keep what a flow asks for besides credit."""
        handles = self._handles.get(channel)
        if handles is None:
            return
        if handle is not None and handle in handles:
            unreported = handles[handle].unreported
            unreported.drain, unreported.echo = unreported.drain or drain, unreported.echo or echo
        elif handle is None and echo and channel not in self.echoes:
            self.echoes.append(channel)

    def _disposes(self, channel: int, first: int, last: int | None) -> bool:
        if last is not None and (last - first) % _WRAP >= _RANGE:
            raise ProtocolError(NOT_ALLOWED, f"a disposition of the deliveries from {first} to {last}")
        return self._handles.get(channel, _NONE) is not None

    def _fault(self, channel: int, condition: str, text: str) -> bool:
        self._usual = _NOTHING_USUAL
        self._handles[channel] = None
        self.faults.append((channel, Condition(condition, text)))
        return False

    # --- other frames

    def _read(self, channel: int, octets: bytes) -> bool:
        self._usual = _NOTHING_USUAL
        try:
            code, fields, attach = performative(octets)
        except DecodeError as error:
            raise ProtocolError(DECODE_ERROR, str(error)) from error
        if self._opened is (code == _OPEN):
            raise ProtocolError(ILLEGAL_STATE, "a connection is opened once, and before anything else")
        if code == _OPEN:
            self._take_open(channel, fields)
        elif code == _BEGIN:
            if fields[_REMOTE_CHANNEL] is not None:
                raise ProtocolError(NOT_ALLOWED, "an answer to a session that was not begun")
            if channel in self._handles:
                raise ProtocolError(NOT_ALLOWED, f"a session on channel {channel}, which has one")
            self._handles[channel] = {}
            self._windows.fresh.add(channel)
            most = fields[_HANDLE_MAX]
            self._most_handles[channel] = _MOST_HANDLES if most is None else most
            self.begins.append(channel)
        elif code == _END:
            self._handles.pop(channel, None)
        elif code != _CLOSE and channel in self._handles:
            handles = self._handles[channel]
            return handles is not None and self._within(channel, handles, code, fields, attach, octets)
        return True  # without a session the engine reports the error

    def _take_open(self, channel: int, fields: Sequence[Any]) -> None:
        if channel:
            raise ProtocolError(FRAMING_ERROR, f"an open on channel {channel}, and not on 0")
        most = fields[_MAX_FRAME_SIZE]
        if most is not None and most < _LEAST_FRAME:
            raise ProtocolError(FRAMING_ERROR, f"a max-frame-size of {most} octets, and {_LEAST_FRAME} is the lowest")
        container = fields[_CONTAINER]
        if "\0" in container:
            # The engine has C strings, and would take two clients for one.
            at = container.index("\0") + 1
            raise ProtocolError(BAD_FIELD, f"a container id whose character {at} is U+0000; leave it out")
        self._opened = True
        self.desired = symbols(fields[_DESIRED])
        if 0 < (fields[_IDLE_TIMEOUT] or 0) < _LEAST_IDLE_MS:
            raise ProtocolError(RESOURCE_LIMIT, f"an idle time-out of less than {_LEAST_IDLE_MS} ms")

    def _within(  # noqa: PLR0917  a frame, and where it belongs
        self, channel: int, handles: _Handles, code: int, fields: Sequence[Any], attach: Attach | None, octets: bytes
    ) -> bool:
        """Check a frame of a session."""
        if attach is not None:
            return self._attach(channel, handles, attach, octets)
        if code == _DISPOSITION:
            first, last = fields[_FIRST], fields[_LAST]
            if last not in {None, first} and len(octets) > _LONGEST_FOR_SEVERAL:
                raise ProtocolError(
                    RESOURCE_LIMIT, f"{len(octets)} octets said of each delivery from {first} to {last}"
                )
            return self._disposes(channel, first, last)
        if code == _TRANSFER:
            return self._transfer(channel, transfers.of(fields))
        handle: int | None = fields[_HANDLE_OF_FLOW if code == _FLOW else _HANDLE]
        if not self._has(channel, handle):
            return False
        if code == _FLOW:
            self._wish(channel, handle, drain=bool(fields[_DRAIN]), echo=bool(fields[_ECHO]))
            if handle is not None and (wish := acquires(fields)) is not None:
                handles[handle].unreported.acquires = wish
        if code == _FLOW and (fields[_CREDIT] or 0) > _MOST_CREDIT:
            # The engine counts credit as a signed number, so a very large one would become negative.
            self._instead = frame(editing.changed(octets, {_CREDIT: types.uint(_MOST_CREDIT)}), channel=channel)
            return False
        if code == _DETACH and handle is not None:
            del handles[handle]
        return True

    def _attach(self, channel: int, handles: _Handles, attach: Attach, octets: bytes) -> bool:
        if attach.handle in handles:
            return self._fault(channel, HANDLE_IN_USE, f"Another link is attached to handle {attach.handle}.")
        most = self._most_handles[channel]
        if len(handles) > most:
            return self._fault(channel, RESOURCE_LIMIT, f"There is no handle for another link: {most} is the highest.")
        engine_name = attach.name
        if "\0" in engine_name or any(
            one.engine_name == engine_name and one.receives is attach.receives for one in handles.values()
        ):
            # The link is stolen (2.6.1), which the engine does not know, so it gets the new link under another name.
            # So it does for a name with a NUL, which would end a C string.
            self._renamed += 1
            engine_name = f"{attach.name.replace(chr(0), '')}\x1f{self._renamed}"
            self._instead = frame(editing.changed(octets, {NAME: types.string(engine_name)}), channel=channel)
        # The other fields are cached and shared.
        attach = replace(attach, engine_name=engine_name, unreported=UnreportedFields())
        handles[attach.handle] = attach
        self.attaches.append(attach)
        return not self._instead


_NONE: _Handles = {}
"""The handles of a channel without a session."""
