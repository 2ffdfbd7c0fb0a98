"""The reader of frames, which accepts octets in pieces of any size.

The reader examines each octet at most a fixed number of times, however the input is divided into pieces. It stores only
the octets of the frame that has not arrived completely. It allocates memory for a body as the body arrives, never for
the length that the peer announces.

`FrameReader.next` works in this order:

1. Octets between frames: ends of line are heart-beats, and NULs are ignored, as in RabbitMQ.
2. The head: the lines up to the first empty line. Until this line arrives, the reader keeps the octets, and continues
   its search at their end.
3. The body: as many octets as content-length says, and a NUL; without content-length the octets up to the next NUL.
   Frames other than SEND, MESSAGE and ERROR have no body, and their content-length is ignored, because clients copy it
   from the MESSAGE that they acknowledge.
"""

from __future__ import annotations

from assay_sdk.stomp.errors import RemoteError
from assay_sdk.stomp.frames import BODY_COMMANDS, UNESCAPED, Frame
from assay_sdk.stomp.headers import parse_lines, receipt_in
from assay_sdk.stomp.limits import DEFAULT_LIMITS, FrameLimits
from assay_sdk.stomp.versions import Version

_BETWEEN = frozenset(b"\n\r\0")
_NEVER = 1 << 62
"""The offset of octets that the input does not contain; it is greater than every real offset."""
_SHOWN = 40
_LF_END = 2
"""The length of an empty line that ends in LF, together with the end of the line before it."""
_DIGITS = 12
"""The most digits of a content-length; a longer number is above every limit."""


class FrameReader:
    """The reader of the frames of one direction of a connection.

    Args:
        commands: The commands that the peer may send.
        limits: The limits of a frame.
        version: The version whose rules apply to the first frame; None before the negotiation.
    """

    def __init__(
        self, commands: frozenset[str], limits: FrameLimits = DEFAULT_LIMITS, version: Version | None = None
    ) -> None:
        self.version = version
        """The version whose rules apply to the next frame; None before its negotiation."""
        self._commands = commands
        self._limits = limits
        self._data = b""
        self._at = 0
        """The offset in `_data` of the first octet that is not read."""
        self._lf = self._crlf = -1
        """Where the last searches in `_data` found an empty line with LF and with CR LF; out of date if below `_at`."""
        self._head = bytearray()
        """The beginning of a head without its end."""
        self._lines = 0
        """The number of ends of line in `_head`."""
        self._frame: Frame | None = None
        """The frame of which a part of the body is missing."""
        self._body = bytearray()
        self._length = -1
        """The content-length of `_frame`; -1 if NUL ends its body."""

    @property
    def kept(self) -> int:
        """The number of octets that wait for the rest of their frame, or for the next call of `next`."""
        return len(self._data) - self._at + len(self._head) + len(self._body)

    def feed(self, octets: bytes) -> None:
        """Add octets that have arrived from the peer; call `next` afterwards until it returns None."""
        self._data = self._data[self._at :] + octets if self._at < len(self._data) else octets
        self._at = 0
        self._lf = self._crlf = -1

    def next(self) -> Frame | None:
        """Return the next frame that has arrived completely; None if there is none.

        Raises:
            RemoteError: The input is not a frame, or exceeds a limit.  The reader must not be used any further.
        """
        if self._frame is not None:
            return self._rest_of_body()
        if self._head:
            if not self._complete_head():
                return None
        else:
            data, at, end = self._data, self._at, len(self._data)
            while at < end and data[at] in _BETWEEN:
                at += 1
            self._at = at
            if at == end:
                return None
        if self._lf < self._at or self._crlf < self._at:
            self._find_empty_line()
        if self._lf <= self._crlf:
            end_of_head, body = self._lf, self._lf + 2
        else:
            end_of_head, body = self._crlf, self._crlf + 3
        if end_of_head == _NEVER:
            self._keep_head()
            return None
        if body - end_of_head > _LF_END and self.version is not None and not self.version.returns:
            raise RemoteError(f"A line has a carriage return only: lines end in a line feed in STOMP {self.version}")
        head = self._data[self._at : end_of_head]
        self._at = body
        command, headers = self._parse_head(head)
        return self._take_body(command, headers)

    # --- heads

    def _find_empty_line(self) -> None:
        """Set `_lf` and `_crlf` to the offsets of the next empty lines that end in LF and in CR LF; `_NEVER` for none.

        Later frames use the stored results.  If a peer uses only LF, the reader therefore does not search for CR LF
        again at each frame, and vice versa.
        """
        at = self._at
        if self._lf < at:
            lf = self._data.find(b"\n\n", at)
            self._lf = _NEVER if lf < 0 else lf
        if self._crlf < at:
            crlf = self._data.find(b"\n\r\n", at)
            self._crlf = _NEVER if crlf < 0 else crlf

    def _keep_head(self) -> None:
        self._head += self._data[self._at :]
        self._data, self._at = b"", 0
        self._check_part(0)

    def _complete_head(self) -> bool:
        """Add the input to `_head`; if the head is complete, move it back into `_data` and return True."""
        begin = len(self._head)
        self._head += self._data[self._at :]
        self._data, self._at = b"", 0
        if self._head.find(b"\n\n", max(0, begin - 1)) < 0 and self._head.find(b"\n\r\n", max(0, begin - 2)) < 0:
            self._check_part(begin)
            return False
        self._data = bytes(self._head)
        self._lf = self._crlf = -1
        self._head.clear()
        self._lines = 0
        return True

    def _check_part(self, begin: int) -> None:
        """Check the limits of a head that has arrived in part, from the first octet that is not checked yet."""
        head, limits = self._head, self._limits
        if not self._lines:
            first = head.find(b"\n", begin)
            self._check_command_line(bytes(head[: limits.max_command + 2] if first < 0 else head[:first]))
        self._lines += head.count(b"\n", begin)
        if self._lines > limits.max_headers + 1:
            raise self._limit(f"A frame has more than {limits.max_headers} headers", head)
        if len(head) > limits.max_head:
            raise self._limit(f"A frame has more than {limits.max_head} octets before its body", head)
        if len(head) > limits.max_line and len(head) - 1 - head.rfind(b"\n") > limits.max_line:
            raise self._limit(f"A header line has more than {limits.max_line} octets", head)
        if head.find(b"\0", begin) >= 0:
            raise RemoteError("A frame has a NUL before the empty line behind its headers", receipt_in(bytes(head)))

    def _limit(self, text: str, head: bytes | bytearray) -> RemoteError:
        return RemoteError(text, receipt_in(bytes(head[: self._limits.max_line])), is_limit=True)

    def _check_command_line(self, line: bytes) -> None:
        if len(line) > self._limits.max_command + 1:
            shown = line[:_SHOWN].decode(errors="backslashreplace")
            raise RemoteError(f"The line {shown!r} is too long for a command: a frame begins with its command")

    def _parse_head(self, head: bytes) -> tuple[str, dict[str, str]]:
        """Parse a complete head.

        Raises:
            RemoteError: The head is not valid, or exceeds a limit.
        """
        try:
            text = head.decode()
        except UnicodeDecodeError as error:
            raise RemoteError(f"The headers of a frame are not UTF-8: {error.reason} at octet {error.start}") from error
        version = self.version
        lines = text.split("\n")
        command = lines[0].removesuffix("\r") if version is None or version.returns else lines[0]
        limits = self._limits
        if command not in self._commands or len(head) > limits.max_line or len(lines) > limits.max_headers + 1:
            self._check_head(head, command, lines)
        if "\0" in text:
            raise RemoteError(f"{command} has a NUL before the empty line behind its headers", receipt_in(head))
        del lines[0]
        if "\r" in text and (version is None or version.returns or command in UNESCAPED):
            lines = [line.removesuffix("\r") for line in lines]
            if any("\r" in line for line in lines):
                raise RemoteError(f"{command} has a carriage return within a header: write it as \\r", receipt_in(head))
        if "\\" not in text and version is not None and not version.trims:
            try:
                headers = dict([line.split(":", 1) for line in lines])
            except ValueError:  # a line without a colon
                headers = {}
            if len(headers) == len(lines) and "" not in headers:
                return command, headers
        try:
            return command, parse_lines(command, lines, version)
        except RemoteError as error:
            error.receipt = receipt_in(head)
            raise

    def _check_head(self, head: bytes, command: str, lines: list[str]) -> None:
        limits = self._limits
        if command not in self._commands:
            self._check_command_line(head.partition(b"\n")[0])
            raise RemoteError(f"There is no command {command[:_SHOWN]!r}", receipt_in(head))
        if len(lines) > limits.max_headers + 1:
            raise self._limit(f"{command} has more than {limits.max_headers} headers", head)
        if len(head) > limits.max_line:
            if len(head) > limits.max_head:
                raise self._limit(f"{command} has more than {limits.max_head} octets before its body", head)
            if max(map(len, head.split(b"\n"))) > limits.max_line:
                raise self._limit(f"A header line of {command} has more than {limits.max_line} octets", head)

    # --- bodies

    def _take_body(self, command: str, headers: dict[str, str]) -> Frame | None:
        """Read the body behind a head, and return the frame; None if a part of the body is missing."""
        data, at = self._data, self._at
        written = headers.get("content-length") if command in BODY_COMMANDS else None
        if written is None:
            end = data.find(b"\0", at)
            if end >= 0:
                self._at = end + 1
                return self._finished(Frame(command, headers, data[at:end]))
            length = -1
        else:
            length = self._parse_length(command, headers, written)
            end = at + length
            if end < len(data):
                self._check_end(command, headers, data[end])
                self._at = end + 1
                return Frame(command, headers, data[at:end])
        self._frame, self._length = Frame(command, headers), length
        return self._rest_of_body()

    def _rest_of_body(self) -> Frame | None:
        """Add the input to a body that has arrived in part, and return the frame once it is complete."""
        frame, data, at, body, length = self._frame, self._data, self._at, self._body, self._length
        if frame is None:
            return None
        end = data.find(b"\0", at) if length < 0 else at + length - len(body)
        complete = 0 <= end < len(data)
        body += data[at:end] if complete or length >= 0 else data[at:]
        if not complete:
            self._data, self._at = b"", 0
            if len(body) > self._limits.max_body:
                raise self._too_long(frame.command, frame.headers)
            self._check_bodiless(frame, body)
            return None
        if length >= 0:
            self._check_end(frame.command, frame.headers, data[end])
        self._at = end + 1
        self._frame, self._body = None, bytearray()
        return self._finished(Frame(frame.command, frame.headers, bytes(body)))

    def _finished(self, frame: Frame) -> Frame:
        """Check a frame that NUL has ended, and return it; drop its body if its command must not have one."""
        if not frame.body:
            return frame
        self._check_bodiless(frame, frame.body)
        if len(frame.body) > self._limits.max_body:
            raise self._too_long(frame.command, frame.headers)
        return frame if frame.command in BODY_COMMANDS else Frame(frame.command, frame.headers)

    def _check_bodiless(self, frame: Frame, body: bytes | bytearray) -> None:
        if frame.command in BODY_COMMANDS or not body:
            return
        if self.version is not None and self.version.strict_bodies:
            raise RemoteError(f"{frame.command} has a body, which only SEND, MESSAGE and ERROR may have", frame.receipt)
        if len(body) > self._limits.max_line:
            raise RemoteError(f"{frame.command} has a long body, or no NUL at its end", frame.receipt, is_limit=True)

    def _parse_length(self, command: str, headers: dict[str, str], written: str) -> int:
        if not (written.isascii() and written.isdigit()):
            raise RemoteError(
                f"{command} has the content-length {written[:_SHOWN]!r}: write the number of octets of its body",
                headers.get("receipt"),
            )
        if len(written.lstrip("0")) > _DIGITS or int(written) > self._limits.max_body:
            raise self._too_long(command, headers)
        return int(written)

    def _too_long(self, command: str, headers: dict[str, str]) -> RemoteError:
        text = f"The body of {command} has more than {self._limits.max_body} octets"
        return RemoteError(text, headers.get("receipt"), is_limit=True)

    @staticmethod
    def _check_end(command: str, headers: dict[str, str], octet: int) -> None:
        if octet:
            raise RemoteError(
                f"{command} has no NUL behind the {headers['content-length']} octets that its content-length announces",
                headers.get("receipt"),
            )
