"""A STOMP connection of the driver: carries out commands, handles the broker's frames, and answers every token once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Literal

from assay_sdk.driver import LEVEL_PROPERTY, PLATFORM_PROPERTY, DriverEvent, Opened, Target
from assay_sdk.driver import Frame as TracedFrame
from assay_sdk.drivers.answers import lost
from assay_sdk.drivers.network import NetworkWire, Route
from assay_sdk.drivers.stomp.commands import Commands
from assay_sdk.drivers.stomp.context import Names, Receipt
from assay_sdk.drivers.stomp.errors import refusal
from assay_sdk.drivers.stomp.further_connections import FurtherConnections
from assay_sdk.drivers.stomp.transport.line import StompLine
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.stomp import Frame, HeartBeat, RemoteError, Version, agreed, encode_frame, parse_heart_beat
from assay_sdk.stomp.conventions import Conventions, conventions_of
from assay_sdk.stomp.extensions import CONNECTION, CONNECTION_OPEN, EXTENSIONS, OPEN_ERRORS

MOST_AHEAD = 64 << 20
"""The octets of messages that may wait for credit.  If more wait, the client stops reading, so that TCP makes the
broker wait.  While a receipt is due, the client continues to read, because the receipt comes after these messages."""
_TOO_FAR_AHEAD = 1 << 30
"""If more octets of messages wait for credit, the client ends the connection.  So many octets can wait only while the
client waits for a receipt."""


class StompWire(NetworkWire[StompLine]):
    """A STOMP connection (`assay_sdk.driver.Wire`).

    Args:
        target: Broker to connect to, and how.
        route: The way to the broker.
        sink: Called with each event, on the loop.
        epoch: Number of the connection among the driver's connections.
        conventions: The broker's conventions; None to look them up by the header `server` of CONNECTED.
        heart_beat: The heart-beats that the client offers and wants.
        numbers: The counter that a further connection shares with its main connection; None for a main connection.
    """

    def __init__(
        self,
        target: Target,
        route: Route,
        sink: Callable[[DriverEvent], None],
        epoch: int,
        *,
        conventions: Conventions | None,
        heart_beat: HeartBeat,
        numbers: itertools.count[int] | None = None,
    ) -> None:
        super().__init__(target, route, sink, epoch)
        self._is_main = numbers is None
        self._numbers = numbers or self._numbers
        self.conventions = conventions or Conventions()
        self.extensions: frozenset[str] = frozenset()
        self.names = Names(self.conventions)
        self.version = Version.V1_2
        self.has_client_id = target.client_id is not None
        self._given = conventions
        self._heart_beat = heart_beat
        self._route = route
        self._receipts: dict[str, Receipt] = {}
        self._output: list[bytes] = []
        self._ahead = 0
        """The octets of messages that wait for credit."""
        self._commands = Commands(self)
        self._further: FurtherConnections | None = None
        line = StompLine(
            route.host_port,
            target.login,
            self,
            route.runner,
            context=route.context,
            open_timeout_ms=target.open_timeout_ms,
        )
        self._start(line, self._commands.carry_out)

    # --- called by commands and receivers (`WireContext`)

    def send(self, frame: Frame, receipt: Receipt | None = None) -> None:
        """Queue a frame for the socket; the client sends all frames of one job together.

        Args:
            frame: The frame, without the header receipt.
            receipt: Called with the broker's answer; None to ask for no receipt.

        Raises:
            LocalError: STOMP cannot express a header.
        """
        if receipt is None:
            octets = encode_frame(frame, self.version)
        else:
            name = str(next(self._numbers))
            octets = encode_frame(Frame(frame.command, {**frame.headers, "receipt": name}, frame.body), self.version)
            self._receipts[name] = receipt
            if self._ahead:
                self._balance()
        if not self._output and not self._working:
            self._runner.call_soon(self._flush)
        self._output.append(octets)
        if self._target.trace:
            self._show("out", frame, octets)

    def ahead(self, octets: int) -> None:
        """Change the number of octets of messages that wait for credit; if too many wait, stop reading.

        Args:
            octets: The change; negative if fewer octets wait.
        """
        self._ahead += octets
        self._balance()

    def when_room(self, job: Callable[[], None]) -> None:
        """Run a job as soon as less than 1 MiB of output waits for the socket."""
        self._line.when_room(job)

    # --- called by the further connections

    def lose(self, why: Refused) -> None:
        """Drop the connection, because a further connection was lost.

        Args:
            why: The reason.
        """
        self._line.drop(why)

    # --- called by the line (`LineOwner`)

    def line_ready(self) -> None:
        """Send CONNECT, because the socket is connected."""
        headers = {
            "accept-version": "1.1,1.2",
            "host": self.conventions.host or self._route.host_port.host,
            "heart-beat": str(self._heart_beat),
            EXTENSIONS: OPEN_ERRORS,
        }
        if self._target.client_id is not None:
            headers["client-id"] = self._target.client_id
        if self._target.login is not None:
            headers |= {"login": self._target.login.user, "passcode": self._target.login.password}
        self._line.write(encode_frame(Frame("CONNECT", headers), None))
        if self._target.trace:
            shown = Frame("CONNECT", {name: value for name, value in headers.items() if name != "passcode"})
            self._show("out", shown, encode_frame(shown, None))

    def line_frame(self, frame: Frame) -> None:
        """Handle a frame of the broker."""
        if self._target.trace:
            self._show("in", frame, b"")
        headers = frame.headers
        if frame.command == "MESSAGE":
            self._commands.message(frame)
        elif frame.command == "RECEIPT":
            receipt = self._receipts.pop(headers.get("receipt-id", ""), None)
            if receipt is not None:
                receipt(None)
                if self._ahead:
                    self._balance()
        elif frame.command == "ERROR":
            self._refused(frame)
        elif frame.command == "CONNECTED":
            self._connected(headers)

    # --- called by `NetworkWire`

    def _ask_to_close(self) -> None:
        if self._further is None:
            self._disconnect()
        else:
            self._further.close(self._disconnect)

    def _cut(self, why: Refused) -> None:
        if self._further is not None:
            self._further.drop()
        receipts, self._receipts = self._receipts, {}
        for receipt in receipts.values():
            receipt(why)

    def _flush(self) -> None:
        if self._output and not self._gone:
            octets = b"".join(self._output)
            self._output.clear()
            self._line.write(octets)

    # --- inside

    def _balance(self) -> None:
        """Stop or start reading, depending on the octets of waiting messages and on whether receipts are due.

        If far too many octets wait, drop the connection.
        """
        if self._ahead > _TOO_FAR_AHEAD:
            text = f"has sent {self._ahead:,} octets of messages beyond the client's credit, and no receipt"
            self._line.drop(lost(f"the broker at {self._route.host_port} {text}"))
        self._line.hold(self._ahead > MOST_AHEAD and not self._receipts)

    def _disconnect(self) -> None:
        self.send(Frame("DISCONNECT"), lambda _: self._line.drop(None))

    def _connect_further(self, sink: Callable[[DriverEvent], None]) -> StompWire:
        """Open a further connection to the same broker (`FurtherConnections`)."""
        return StompWire(
            self._target,
            self._route,
            sink,
            self.epoch,
            conventions=self.conventions,
            heart_beat=self._heart_beat,
            numbers=self._numbers,
        )

    def _connected(self, headers: dict[str, str]) -> None:
        if self._is_open:
            self._line.drop(lost(f"the broker at {self._route.host_port} sent CONNECTED twice"))
            return
        server = headers.get("server", "")
        said = headers.get("version", "1.0")
        try:
            beats = parse_heart_beat(headers.get("heart-beat"))
            self.version = Version(said)
        except (RemoteError, ValueError) as error:
            self._line.drop(
                lost(f"the broker at {self._route.host_port} answered CONNECT with an invalid header: {error}")
            )
            return
        if self.version is Version.V1_0:
            broker = f"the broker at {self._route.host_port}"
            text = f"{broker} speaks only STOMP 1.0, which has no NACK: this driver needs 1.1 or 1.2"
            self._line.drop(Refused(JmsErrorKind.UNSUPPORTED, text))
            return
        self._set_open()
        self.conventions = self._given or conventions_of(server)
        self.extensions = frozenset(filter(None, headers.get(EXTENSIONS, "").split(",")))
        self.names = Names(self.conventions)
        self.capabilities = self.conventions.capabilities
        if self._is_main and not self.conventions.unsubscribe_returns:
            self._further = FurtherConnections(self, self._commands.carry_out, self._connect_further)
            self._carry_out = self._further.carry_out
        self._line.keep_alive(agreed(self._heart_beat, beats), agreed(beats, self._heart_beat))
        product, _, version = server.partition("/")
        told = {name: headers[name] for name in (LEVEL_PROPERTY, PLATFORM_PROPERTY) if name in headers}
        properties = {"product": product, "version": version, **told}
        keeps_ids = bool(self.conventions.message_id)
        self.answers.emit(Opened(self.epoch, self.capabilities, properties, message_ids=keeps_ids))

    def _refused(self, frame: Frame) -> None:
        """Handle an ERROR for a frame or a subscription.

        The connection ends, unless it was open before and the ERROR has `CONNECTION_OPEN`.
        """
        stays = self._is_open and frame.headers.get(CONNECTION) == CONNECTION_OPEN
        why = refusal(frame, "refused this" if stays else "answered with an ERROR and closed the connection")
        answered = self._receipts.pop(self._at_fault(frame, why), None)
        if answered is not None:
            answered(why)
        if stays:
            self._commands.closed(frame.headers.get("subscription", ""), why)
        elif self._is_open:
            self._line.drop(lost(why.text))
        elif why.mqrc is None and why.kind is JmsErrorKind.MESSAGING:
            self._line.drop(Refused(JmsErrorKind.CONNECTION_LOST, why.text, objects=why.objects))
        else:
            self._line.drop(why)

    def _at_fault(self, frame: Frame, why: Refused) -> str:
        """Return the receipt id of the frame that an ERROR answers; empty if the frame is unknown.

        Artemis and RabbitMQ leave receipt-id out.  If the kind of the error is known and only one frame waits for a
        receipt, the ERROR answers this frame.
        """
        named = frame.headers.get("receipt-id", "")
        if named or why.kind is JmsErrorKind.MESSAGING or len(self._receipts) != 1:
            return named
        return next(iter(self._receipts))

    def _show(self, direction: Literal["in", "out"], frame: Frame, octets: bytes) -> None:
        """Emit a traced frame."""
        lines = [frame.command, *(f"{name}:{value}" for name, value in frame.headers.items())]
        text = f"{' '.join(lines)} ({len(frame.body)} octets)" if frame.body else " ".join(lines)
        shown = octets or encode_frame(frame, self.version)
        self.answers.emit(TracedFrame(direction, text, shown))
