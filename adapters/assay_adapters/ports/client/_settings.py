"""Settings of sessions, producers and consumers, in the words and numbers of JMS."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class AckMode(StrEnum):
    """The acknowledgement mode of a session (JMS 2.0, 6.2.10)."""

    AUTO = "auto"
    CLIENT = "client"
    DUPS_OK = "dups-ok"
    TRANSACTED = "transacted"
    XA = "xa"


class Mode(StrEnum):
    """The delivery mode of a message (JMS 2.0, 3.4.2); `AS_DESTINATION` is IBM MQ's, not JMS's."""

    PERSISTENT = "persistent"
    NON_PERSISTENT = "non-persistent"
    AS_DESTINATION = "as the destination defines"


class Qos(StrEnum):
    """The quality of service of a send or a subscription (AMQP:11-13)."""

    AT_MOST_ONCE = "at-most-once"
    AT_LEAST_ONCE = "at-least-once"


class Setting(StrEnum):
    """A setting of a producer."""

    DELAY = "delivery delay"
    TTL = "time to live"
    MODE = "delivery mode"
    PRIORITY = "priority"


AS_DESTINATION = -1
"""IBM MQ's number for a mode or priority that the destination defines (DEFPSIST or DEFPRTY; DELAY:58)."""

MODE_VALUES: Mapping[int, Mode] = {
    1: Mode.NON_PERSISTENT,
    2: Mode.PERSISTENT,
    AS_DESTINATION: Mode.AS_DESTINATION,
}
"""JMS's numbers for `Setting.MODE`: DeliveryMode.NON_PERSISTENT is 1, PERSISTENT is 2."""
