"""The check of a client's frames before the engine gets them.

The validator passes only whole frames to the engine, and reads all fields of attaches, because the engine does not
report some of them.

Two kinds of input would stop the engine: deep nesting, because its decoder recurses, and ranges of billions of
deliveries, because it loops over them.  The engine also accepts some input for which the specification demands an
error: a second open, a channel or handle in use, a handle without a link.
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
from assay_broker.amqp.frames.attaches import NAME, AttachFrame, UnreportedFields, needs_new_name
from assay_broker.amqp.frames.errors import ProtocolError
from assay_broker.amqp.frames.fields import HEAD_SIZE, SHORT, acquires, leading
from assay_broker.amqp.frames.opens import check_idle_timeout, desired_of
from assay_broker.amqp.frames.reading import performative
from assay_broker.amqp.frames.windows import IncomingWindows
from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME, HEADER_SIZE, frame
from assay_sdk.amqp.types import DecodeError

_OPEN, _BEGIN, _ATTACH, _FLOW, _TRANSFER, _DISPOSITION, _DETACH, _END, _CLOSE = range(0x10, 0x19)
_MIN_OFFSET = 2
_RANGE = 1 << 20
"""The most deliveries of one disposition."""
_LONGEST_FOR_SEVERAL = 4_096
"""The most octets of a disposition for several deliveries, because the engine copies the state to each delivery."""
_WRAP = 1 << 32
_HEAD = bytes((0x00, 0x53))
"""The first octets of a performative whose descriptor is a small number; all clients write this form."""
_PLAIN_TRANSFER = bytes((*_HEAD, _TRANSFER, 0xC0))
"""The first octets of a transfer whose list of fields is short."""
_BEHIND_HANDLE = {0x43: 15, 0x52: 16}
"""The offset of a transfer's second field in its frame, by the format code of a handle of at most one octet."""
_USUAL_END = 16
_NOTHING_USUAL = b"", b""
_LENGTH = struct.Struct(">I").unpack_from
_FIRST, _LAST = 1, 2
_HANDLE, _HANDLE_OF_FLOW = 0, 4
_REMOTE_CHANNEL, _HANDLE_MAX, _MOST_HANDLES = 0, 4, (1 << 32) - 1
_CREDIT, _MOST_CREDIT = 6, 1 << 30
_DRAIN, _ECHO = 8, 9
_MOST_RESUMED = 1_024


_Handles = dict[int, AttachFrame]
"""The attached links of a session, by the client's handle."""


class FrameValidator:
    """The validator of the frames that one client sends.

    Args:
        limits: The limits of the listener.
    """

    def __init__(self, limits: AmqpLimits) -> None:
        self.attaches: deque[AttachFrame] = deque()
        """The client's attaches whose links the engine has not reported yet, in order."""
        self.begins: deque[int] = deque()
        """The channels of the client's begins whose sessions the engine has not reported yet, in order."""
        self._most_handles: dict[int, int] = {}
        """The highest handle that the client accepts, by channel (AMQP 1.0, 2.7.2)."""
        self.faults: deque[tuple[int, Condition]] = deque()
        """The channels of the sessions that the connection must end, with the errors."""
        self.echoes: deque[int] = deque()
        """The channels of the sessions for which the client has asked for a flow."""
        self._windows = IncomingWindows(limits.session_frames)
        self.desired: tuple[str, ...] = ()
        """The desired capabilities in the client's open."""
        self._max_frame = limits.max_frame
        self._most_channels = limits.sessions
        self._max_performative = limits.max_performative
        """The most octets of a performative; a low limit, because other clients wait while the server decodes it."""
        self._rest = b""
        self._header_due = True
        self._opened = False
        self._closing = False
        self._instead = b""
        """The frame that the engine gets instead of the current one; empty for no frame."""
        self._renamed = 0
        self._usual = _NOTHING_USUAL
        """The octets of the last plain transfer (see `transfers`) that hold its channel, performative code and handle.

        While no link is attached or detached, a plain transfer with the same octets needs no other check.
        """
        self._is_plain = transfers.plain(4)
        """A function that matches the fields after the handle in transfers of the same form as the last plain one."""
        self._behind_handle = 0
        """The offset in the frame of the fields after the handle."""
        self._handles: dict[int, _Handles | None] = {}
        """The handles in use, by channel; None for a session that must end, because the client broke the protocol."""

    def may_exceed_windows(self, octets: bytes) -> bool:
        """Return whether the next octets may contain more transfers than the window of a session allows."""
        return self._windows.may_be_exceeded(self._rest, octets, HEADER_SIZE if self._header_due else 0)

    def limit(self, windows: dict[int, int]) -> None:
        """Let the next `feed` count transfers against the sessions' windows.

        Args:
            windows: The incoming windows of the sessions, in transfers, by the client's channel.
        """
        self._windows.left = windows
        self._usual = _NOTHING_USUAL

    def feed(self, octets: bytes) -> bytes:
        """Check octets from the client, and return the whole frames for the engine.

        Raises:
            ProtocolError: A frame breaks the protocol, and the connection must be closed.  All octets of this call are
                dropped, and no further call is allowed.
        """
        data = self._rest + octets if self._rest else octets
        size, at, kept_from = len(data), 0, 0
        check = self._check_after_close if self._closing else self._check_frame
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
                raise ProtocolError(FRAMING_ERROR, f"a frame of {length} octets, and the limit is {self._max_frame}")
            if size - at < length:
                break
            if (
                length > _USUAL_END
                and (data[at + 4 : at + 12], data[at + 13 : at + 16]) == self._usual
                and self._is_plain(data, at + self._behind_handle, at + length)
            ):
                pass  # another plain transfer on the same link, which the engine gets
            elif length > HEADER_SIZE and not check(data, at, at + length):
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
        """Check all further frames by `_check_after_close`, because the server has sent its close (AMQP 1.0, 2.4.6)."""
        self._closing = True
        self._usual = _NOTHING_USUAL

    def _check_after_close(self, data: bytes, begin: int, end: int) -> bool:
        """Check a frame after the server's close.

        A performative with the usual form of descriptor is dropped, unless it is an open or a close.  All other frames
        are checked as before the close.

        Returns:
            True if the engine gets the frame unchanged.
        """
        body = begin + data[begin + 4] * 4
        is_plain = end - body > HEAD_SIZE and data.startswith(_HEAD, body, end)
        return (not is_plain or data[body + 2] in {_OPEN, _CLOSE}) and self._check_frame(data, begin, end)

    def _check_frame(self, data: bytes, begin: int, end: int) -> bool:  # noqa: C901  one branch for each frequent frame
        """Check a frame.

        Args:
            data: Octets that contain the frame.
            begin: The offset of the frame.
            end: The offset of the frame's end.

        Returns:
            True if the engine gets the frame unchanged.
        """
        offset, kind = data[begin + 4], data[begin + 5]
        body = begin + offset * 4
        if offset < _MIN_OFFSET or body > end or kind != AMQP_FRAME:
            raise ProtocolError(FRAMING_ERROR, f"a frame of type {kind} with its body at {offset * 4}")
        if body == end:
            return True  # a heartbeat
        channel = data[begin + 6] << 8 | data[begin + 7]
        if channel >= self._most_channels:
            raise ProtocolError(FRAMING_ERROR, f"channel {channel}, and the highest is {self._most_channels - 1}")
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
                return self._is_attached(channel, handle)
        if code not in {_TRANSFER, 0} and end - body > self._max_performative:
            raise ProtocolError(
                RESOURCE_LIMIT,
                f"a frame of {end - begin} octets without a message, and the limit is {self._max_performative}",
            )
        return self._read(channel, data[body : min(end, body + self._max_performative)])

    # --- frequent frames, of which only the first fields are read

    def _is_attached(self, channel: int, handle: int | None) -> bool:
        """Return whether a link is attached to the handle of a frame; if not, end the session.

        Args:
            channel: The client's channel.
            handle: The handle; None for a flow of a session, for which the answer is True.
        """
        handles = self._handles.get(channel, _NONE)
        if handles is None:
            return False
        if handle is None or handle in handles or handles is _NONE:
            return True  # if the channel has no session, the engine reports the error
        return self._fault(channel, UNATTACHED_HANDLE, f"No link is attached to handle {handle}.")

    def _takes_plain(self, channel: int, handle: int) -> bool:
        """Return whether the client is the sender of a link and no delivery on the link is incomplete."""
        attach = (self._handles.get(channel) or _NONE).get(handle)
        return attach is not None and not attach.receives and attach.unreported.begun is None

    def _remember(self, data: bytes, begin: int) -> bool:
        """Remember the beginning of a plain transfer for `_usual`, if its octets identify the link.

        Returns:
            Always True, because the engine gets the transfer.
        """
        head, fields = usual = data[begin + 4 : begin + 12], data[begin + 13 : begin + 16]
        behind = _BEHIND_HANDLE.get(fields[1]) if self._windows.left is None else None
        if behind is not None and head[0] == _MIN_OFFSET and head.endswith(_PLAIN_TRANSFER):
            self._usual, self._is_plain, self._behind_handle = usual, transfers.plain(fields[0]), behind
        return True

    def _sending(self, channel: int, handle: int | None) -> AttachFrame | None:
        """Return the link of a transfer; None if the session ends, because the client may not send on this handle."""
        handles = self._handles[channel]
        attach = None if handles is None or handle is None else handles.get(handle)
        if attach is None:
            self._is_attached(channel, handle)
            return None
        if attach.receives:
            self._fault(
                channel,
                NOT_ALLOWED,
                f"The client is the receiver of the link at handle {handle}, and cannot send on it.",
            )
            return None
        return attach

    def _has_room(self, channel: int) -> bool:
        """Return whether a session's window allows one more transfer (AMQP 1.0, 2.5.6); if not, end the session."""
        return self._windows.has_room(channel) or self._fault(
            channel, WINDOW_VIOLATION, "The client has sent more transfers than the session's window allowed."
        )

    def _transfer(self, channel: int, said: transfers.Transfer) -> bool:
        """Check a transfer that is not plain, or for which `_takes_plain` returns False.

        Returns:
            True if the engine gets the transfer.
        """
        self._usual = _NOTHING_USUAL
        attach = self._sending(channel, said.handle)
        if attach is None or not self._has_room(channel):
            return False
        if said.second:
            return self._fault(
                channel, BAD_FIELD, "A transfer asks to be settled second on a link whose receiver settles first."
            )
        unreported, delivery = attach.unreported, said.delivery
        if unreported.begun is None and delivery.number is None:
            return self._fault(channel, BAD_FIELD, "A delivery's first transfer has no delivery-id (AMQP 1.0, 2.7.5).")
        if said.resume and delivery.tag is not None:
            if len(delivery.tag) > transfers.LONGEST_TAG or len(unreported.marked) >= _MOST_RESUMED:
                return self._fault(
                    channel, BAD_FIELD, "A resumed delivery has too long a tag, or too many deliveries are resumed."
                )
            # The server has no state of this delivery, because it stores none for detached links (AMQP 1.0, 2.6.13).
            unreported.marked.setdefault(delivery.tag, None)
        flaw = transfers.flaw(delivery, unreported.begun)
        if flaw is not None:
            unreported.mark(delivery if unreported.begun is None else unreported.begun, flaw)
        unreported.begun = (unreported.begun or delivery) if said.more and not said.aborted else None
        return True

    def _wish(self, channel: int, handle: int | None, *, drain: bool = False, echo: bool = False) -> None:
        """Store a flow's requests, which the engine does not report, until the link or session handles them.

        Args:
            channel: The client's channel.
            handle: The link's handle; None for a flow of a session.
            drain: Whether the flow asks to drain the credit.
            echo: Whether the flow asks for a flow of the server.
        """
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
            raise ProtocolError(ILLEGAL_STATE, "the first frame must be an open, and no other frame may be one")
        if code == _OPEN:
            self.desired = desired_of(channel, fields)
            self._opened = True
            check_idle_timeout(fields)
        elif code == _BEGIN:
            if fields[_REMOTE_CHANNEL] is not None:
                raise ProtocolError(NOT_ALLOWED, "a begin that answers a session which the server did not begin")
            if channel in self._handles:
                raise ProtocolError(NOT_ALLOWED, f"a second session on channel {channel}")
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
        return True  # if the channel has no session, the engine reports the error

    def _within(  # noqa: PLR0917  a frame, and its channel and links
        self,
        channel: int,
        handles: _Handles,
        code: int,
        fields: Sequence[Any],
        attach: AttachFrame | None,
        octets: bytes,
    ) -> bool:
        """Check a decoded frame that belongs to a session.

        Returns:
            True if the engine gets the frame unchanged.
        """
        if attach is not None:
            return self._attach(channel, handles, attach, octets)
        if code == _DISPOSITION:
            first, last = fields[_FIRST], fields[_LAST]
            if last not in {None, first} and len(octets) > _LONGEST_FOR_SEVERAL:
                raise ProtocolError(
                    RESOURCE_LIMIT, f"a disposition of {len(octets)} octets for the deliveries from {first} to {last}"
                )
            return self._disposes(channel, first, last)
        if code == _TRANSFER:
            return self._transfer(channel, transfers.of(fields))
        handle: int | None = fields[_HANDLE_OF_FLOW if code == _FLOW else _HANDLE]
        if not self._is_attached(channel, handle):
            return False
        if code == _FLOW:
            self._wish(channel, handle, drain=bool(fields[_DRAIN]), echo=bool(fields[_ECHO]))
            if handle is not None and (wish := acquires(fields)) is not None:
                handles[handle].unreported.acquires = wish
        if code == _FLOW and (fields[_CREDIT] or 0) > _MOST_CREDIT:
            # The engine stores credit as a signed number, so a very high credit would become negative.
            self._instead = frame(editing.changed(octets, {_CREDIT: types.uint(_MOST_CREDIT)}), channel=channel)
            return False
        if code == _DETACH and handle is not None:
            del handles[handle]
        return True

    def _attach(self, channel: int, handles: _Handles, attach: AttachFrame, octets: bytes) -> bool:
        if attach.handle in handles:
            return self._fault(channel, HANDLE_IN_USE, f"Another link is attached to handle {attach.handle}.")
        most = self._most_handles[channel]
        if len(handles) > most:
            return self._fault(channel, RESOURCE_LIMIT, f"No handle is free for another link: the highest is {most}.")
        engine_name = attach.name
        if needs_new_name(attach, handles.values()):
            self._renamed += 1
            engine_name = f"{attach.name.replace(chr(0), '')}\x1f{self._renamed}"
            self._instead = frame(editing.changed(octets, {NAME: types.string(engine_name)}), channel=channel)
        # The attach is copied, because links with equal attaches share a cached object.
        attach = replace(attach, engine_name=engine_name, unreported=UnreportedFields())
        handles[attach.handle] = attach
        self.attaches.append(attach)
        return not self._instead


_NONE: _Handles = {}
"""The handles of a channel without a session."""
