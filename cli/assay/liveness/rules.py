"""The rules of the profile stomp-liveness.

They rest on the section "Heart-beating" of STOMP 1.2.  The catalogue covers other documents and does not contain these
rules: `assay liveness` judges them separately, and no total of `assay run` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from assay_features import Strength

PROFILE = "stomp-liveness"
SECTION = "https://stomp.github.io/stomp-specification-1.2.html#Heart-beating"
"""The section on which the rules rest."""


class Side(StrEnum):
    """One end of a connection."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> Side:
        """The other end."""
        return Side.SERVER if self is Side.CLIENT else Side.CLIENT


class LivenessRule(Struct, frozen=True):
    """A rule of the profile.

    Args:
        id: The rule's id.
        title: The rule's title, a phrase for tables.
        judged: The end that must keep the rule.
        strength: `MUST` for a demand of the section; `KIT` for what the section only permits, so that only the kit's
            own broker and client can fail it.
        rule: The demand.
        quote: The words of STOMP 1.2 on which the rule rests.
        breach: The observation that breaks the rule.
    """

    id: str
    title: str
    judged: Side
    strength: Strength
    rule: str
    quote: str
    breach: str


_EVERY = "the sender MUST ensure that there is data sent over the network connection at least every n milliseconds"
_WINDOW = (
    "if, inside a time window of at least n milliseconds, the receiver did not receive any new data, it MAY consider "
    "the connection as dead"
)
_FORM = "When used, the heart-beat header MUST contain two positive integers separated by a comma"

RULES: tuple[LivenessRule, ...] = (
    LivenessRule(
        "SL-01",
        "CONNECTED states the server's heart-beats",
        Side.SERVER,
        Strength.MUST,
        "The header heart-beat of CONNECTED is absent, or has two whole numbers of milliseconds.",
        _FORM,
        "The header has another form.",
    ),
    LivenessRule(
        "SL-02",
        "The server sends as often as it has promised",
        Side.SERVER,
        Strength.MUST,
        "If the server promises heart-beats and the client wants them, the server sends an octet at least once in each "
        "interval, also while it has no frame to send. The interval is the larger of both headers' times.",
        _EVERY,
        "Nothing arrives for one and a half intervals.",
    ),
    LivenessRule(
        "SL-03",
        "The server keeps the connection of a client that keeps its promise",
        Side.SERVER,
        Strength.MUST,
        "The server does not end the connection of a client that sends an octet in each interval: ends of lines only, "
        "or frames only.",
        "any new data received over the network connection is an indication that the remote end is alive",
        "The server ends the connection.",
    ),
    LivenessRule(
        "SL-04",
        "The server waits for a silent client as long as it has agreed to",
        Side.SERVER,
        Strength.MUST,
        "If a client that has promised heart-beats is silent, the server does not end the connection before one "
        "interval has passed since the client's last octet.",
        _WINDOW,
        "The server ends the connection earlier.",
    ),
    LivenessRule(
        "SL-05",
        "The server ends the connection of a silent client",
        Side.SERVER,
        Strength.KIT,
        "If a client that has promised heart-beats is silent, the server ends the connection within five intervals.",
        _WINDOW,
        "The connection stays open.",
    ),
    LivenessRule(
        "SL-06",
        "The server expects no heart-beats from a client that promises none",
        Side.SERVER,
        Strength.MUST,
        "The server does not end the connection of a client that has written 0 as its first number and is silent.",
        "if cx is 0 (the client cannot send heart-beats) or sy is 0, there will be none",
        "The server ends the connection.",
    ),
    LivenessRule(
        "SL-07",
        "CONNECT states the client's heart-beats",
        Side.CLIENT,
        Strength.MUST,
        "The header heart-beat of CONNECT is absent, or has two whole numbers of milliseconds.",
        _FORM,
        "The header has another form.",
    ),
    LivenessRule(
        "SL-08",
        "The client sends as often as it has promised",
        Side.CLIENT,
        Strength.MUST,
        "If the client promises heart-beats and the server wants them, the client sends an octet at least once in each "
        "interval, also while it has no frame to send.",
        _EVERY,
        "Nothing arrives for one and a half intervals.",
    ),
    LivenessRule(
        "SL-09",
        "The client sends heart-beats while a listener is busy",
        Side.CLIENT,
        Strength.MUST,
        "The client sends an octet at least once in each interval while a message listener runs for several intervals.",
        _EVERY,
        "Nothing arrives for one and a half intervals.",
    ),
    LivenessRule(
        "SL-10",
        "The client keeps the connection of a server that keeps its promise",
        Side.CLIENT,
        Strength.MUST,
        "The client does not end the connection while the server sends an octet in each interval.",
        "any new data received over the network connection is an indication that the remote end is alive",
        "The client ends the connection.",
    ),
    LivenessRule(
        "SL-11",
        "The client waits for a silent server as long as it has agreed to",
        Side.CLIENT,
        Strength.MUST,
        "If a server that has promised heart-beats is silent, the client does not end the connection before one "
        "interval has passed since the server's last octet.",
        _WINDOW,
        "The client ends the connection earlier.",
    ),
    LivenessRule(
        "SL-12",
        "The client ends the connection to a silent server",
        Side.CLIENT,
        Strength.KIT,
        "If a server that has promised heart-beats is silent, the client ends the connection within five intervals.",
        _WINDOW,
        "The connection stays open.",
    ),
    LivenessRule(
        "SL-13",
        "The client has heart-beats on the next connection, too",
        Side.CLIENT,
        Strength.MUST,
        "After a lost connection, the client sends an octet at least once in each interval of its next connection.",
        _EVERY,
        "Nothing arrives for one and a half intervals.",
    ),
)
"""The rules, in the order of their ids."""

BY_ID: Mapping[str, LivenessRule] = {rule.id: rule for rule in RULES}
