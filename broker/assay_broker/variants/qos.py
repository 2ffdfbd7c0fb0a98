"""The tolerated variants of the rules of AMQP's qualities of service."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Disconnect, Put
from assay_broker.core.effects import Deliver, Effect
from assay_broker.core.records import Record, SubscriptionDefined
from assay_broker.defects.qos.filters import is_light, lasts
from assay_broker.defects.sends import dropped, is_topic
from assay_broker.defects.shapes import commands, deliveries, filters, reading
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant
from assay_sdk.driver import Durability

_SECOND_MS = 1_000


def _without_false(command: Command, _now_ms: int, view: View) -> tuple[Command, ...] | None:
    """Remove the durable header from a publication if the header is false; messages to queues keep the header."""
    target = view.target(command)
    if not isinstance(command, Put) or target is None or not is_topic(target) or command.message.durable is not False:
        return None
    return (replace(command, message=replace(command.message, durable=None)),)


def _unmarked(delivery: Deliver, view: View) -> Deliver:
    """Return the delivery without a mark of redelivery, if it is for a durable MQ Light subscription."""
    return replace(delivery, redelivered=False, count=0) if lasts(view.receiver(delivery)) else delivery


def _marked(delivery: Deliver, view: View) -> Deliver:
    """Return the delivery marked as redelivered, if it is for a durable MQ Light subscription."""
    return replace(delivery, redelivered=True) if lasts(view.receiver(delivery)) else delivery


def _recognizes_repeated() -> Seams:
    """Return filters that drop a publication if its sender sends it again after a lost connection."""
    known: dict[str, int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> tuple[Command, ...] | None:
        target = view.target(command)
        if not isinstance(command, Put) or target is None or not is_topic(target) or command.token is None:
            return None
        start = known.setdefault(str(command.message.message_id), command.connection)
        # A killed broker has lost the message, so it must accept the message again.
        if start == command.connection or view.starts > 1:
            return None
        return (dropped(command, now_ms),)

    return commands(rewrite)


def _reversed(hit: Callable[[Deliver], bool]) -> Seams:
    """Return filters that reverse the order of one turn's deliveries to a durable MQ Light subscription.

    A turn with chosen deliveries to several receivers stays unchanged.

    Args:
        hit: Chooses the deliveries.
    """

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        turned = [one for one in passing if isinstance(one, Deliver) and hit(one) and lasts(view.receiver(one))]
        if len({(one.connection, one.link) for one in turned}) != 1:
            return passing
        places = iter(reversed(turned))
        return tuple(next(places) if one in turned else one for one in passing)

    return filters(effects=effects)


def _later(command: Command, _now_ms: int, _view: View) -> tuple[Command, ...] | None:
    """Lengthen the time to live of a durable MQ Light subscription by a second."""
    if not isinstance(command, Attach) or not lasts(command) or command.timeout_ms is None:
        return None
    return (replace(command, timeout_ms=command.timeout_ms + _SECOND_MS),)


def _anew_at_start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    """Remove from each subscription the time at which its receiver left, so that the time to live begins again."""
    return tuple(replace(one, left_ms=None) if isinstance(one, SubscriptionDefined) else one for one in records)


def _lingers(command: Command, _now_ms: int, _view: View) -> tuple[Command, ...] | None:
    """Keep an unshared at-least-once MQ Light subscription for ten seconds if it has a time to live of 0."""
    if not isinstance(command, Attach) or not is_light(command) or command.timeout_ms != 0:
        return None
    if command.settled or command.shared:
        return None
    return (replace(command, durability=Durability.DURABLE, timeout_ms=10 * _SECOND_MS),)


def _notices_late() -> Seams:
    """Return filters that keep a lost MQ Light client's id in use for a second, as if the loss were noticed late."""
    since: dict[str, tuple[int, int]] = {}

    def freed(now_ms: int) -> tuple[Command, ...]:
        over = [client for client, (left_ms, _) in since.items() if now_ms - left_ms >= _SECOND_MS]
        return tuple(Disconnect(since.pop(client)[1], None, clean=True) for client in over)

    def rewrite(command: Command, now_ms: int, view: View) -> tuple[Command, ...] | None:
        ends = freed(now_ms)
        if not isinstance(command, Disconnect) or command.clean:
            return (*ends, command) if ends else None
        client = view.client_id(command.connection)
        if client is None or client in since or not any(map(is_light, view.leaving(command))):
            return (*ends, command) if ends else None
        number = view.own_number()
        since[client] = (now_ms, number)
        return (*ends, command, Connect(number, None, client))

    return commands(rewrite)


QOS_VARIANTS = (
    Variant(
        name="false-header-ignored",
        rules=("QS-33", "QS-36"),
        text="A publication's durable header that is false counts as missing, so the topic decides.",
        allowed_by='AMQP:40 says "not set", which may include false.',
        apply=lambda: commands(_without_false),
    ),
    Variant(
        name="sent-again-without-mark",
        rules=("QS-09", "QS-10", "QS-13", "QS-14"),
        text="A message sent again to a subscriber is not marked as redelivered, and its delivery count is 0.",
        allowed_by="AMQP:22 asks for no mark; AMQP 1.0, 3.2.1, leaves delivery-count to the broker's best effort.",
        apply=lambda: deliveries(_unmarked),
    ),
    Variant(
        name="first-sending-with-mark",
        rules=("QS-08", "QS-09"),
        text="Every message of a subscription is marked as redelivered, even at its first delivery.",
        allowed_by="Jakarta Messaging 3.1, 3.4.7: the mark says that a message was likely delivered before.",
        apply=lambda: deliveries(_marked),
    ),
    Variant(
        name="repeated-publication-recognized",
        rules=("QS-04", "QS-05", "QS-11"),
        text="A publication that its sender sends again after a lost connection is published only once.",
        allowed_by="AMQP:18 lets the publisher send again, and does not ask that the message arrives twice.",
        apply=_recognizes_repeated,
    ),
    Variant(
        name="sent-again-in-reverse",
        rules=("QS-09", "QS-14"),
        text="Messages that are sent again to a subscriber arrive in the reverse order.",
        allowed_by="AMQP:22 names no order.",
        apply=lambda: _reversed(lambda one: one.redelivered),
    ),
    Variant(
        name="missed-in-reverse",
        rules=("QS-21", "QS-32"),
        text="Messages that a subscriber missed while it was away arrive in the reverse order.",
        allowed_by="AMQP:31 and AMQP:39 name no order.",
        apply=lambda: _reversed(lambda one: not one.redelivered),
    ),
    Variant(
        name="subscription-ends-a-second-late",
        rules=("QS-20", "QS-21", "QS-22"),
        text="A subscription is removed a second after its time to live is over, as by a periodic clean-up.",
        allowed_by="AMQP:32 says that the subscription is then removed, and does not say how soon.",
        apply=lambda: commands(_later),
    ),
    Variant(
        name="lifetime-anew-at-start",
        rules=("QS-20", "QS-22"),
        text="A subscription's time to live begins again when the broker starts.",
        allowed_by="AMQP:31 says nothing about the time during which the broker is down.",
        apply=lambda: reading(_anew_at_start),
    ),
    Variant(
        name="subscription-without-time-lingers",
        rules=("QS-20",),
        text="An unshared at-least-once subscription without a time to live is kept for ten seconds.",
        allowed_by="AMQP:30 lets the application choose; no line says when a subscription without a time is removed.",
        apply=lambda: commands(_lingers),
    ),
    Variant(
        name="loss-noticed-late",
        rules=("QS-08", "QS-09", "QS-14", "QS-21"),
        text="The client id of a lost connection stays in use for a second.",
        allowed_by="JMS 2.0, 6.1.2 and AMQP:22: no document says how soon a broker notices that a connection is lost.",
        apply=_notices_late,
    ),
)
