"""Defects in the client id and name that identify a subscription (PD-16, PD-17)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import handed_in, is_durable, read_back, written_down
from assay_broker.defects.shapes import Commands, commands, filters, replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc, refused


@defect(commands, "name-alone", "PD-16", "PD-17")
def _name_alone(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a durable subscription by its name alone and ignores the client id."""
    if isinstance(command, Connect):
        return (replace(command, client_id=None),)
    if isinstance(command, Attach) and is_durable(command):
        return (replace(command, shared=True),)
    return None


@defect(commands, "second-client-admitted", "PD-17")
def _second_client(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker accepts a second connection with a client id that is in use."""
    if isinstance(command, Connect) and command.client_id in [
        one.client_id for one in view.connections.values() if one.client_id
    ]:
        return (replace(command, client_id=None),)
    return None


@defect(commands, "no-client-id-needed", "PD-17")
def _no_client_id_needed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker creates an unshared durable subscription for a client without a client id."""
    if isinstance(command, Attach) and is_durable(command) and view.client_id(command.connection) is None:
        return (replace(command, shared=True),)
    return None


@defect(commands, "client-alone", "PD-16")
def _client_alone(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a durable subscription by its client id alone and ignores the name."""
    if isinstance(command, Attach) and is_durable(command) and not command.shared:
        return (replace(command, name="DEFECT"),)
    return None


@defect(commands, "names-without-case", "PD-16")
def _names_without_case(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Subscription names that differ only in case are the same name."""
    if not isinstance(command, Attach | Unsubscribe) or command.name is None:
        return None
    return (replace(command, name=command.name.casefold()),)


def _is_anonymous_shared(command: Command, view: View) -> bool:
    return (
        isinstance(command, Attach)
        and command.shared
        and is_durable(command)
        and (command.is_global or view.client_id(command.connection) is None)
    )


@defect(commands, "anonymous-shared-ends", "PD-17")
def _anonymous_shared_ends(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A shared durable subscription of clients without a client id ends when its last subscriber leaves."""
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, durability=Durability.NON_DURABLE),)
    return None


@defect(commands, "anonymous-shared-refused", "PD-17")
def _anonymous_shared_refused(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker refuses shared durable subscriptions to clients without a client id."""
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, name=None),)
    return None


@defect(commands, "second-client-takes-over", "PD-17")
def _takes_over(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A second connection with a client id ends the first connection with this client id."""
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    owners = [number for number, client in view.connections.items() if client.client_id == command.client_id]
    return (*(Disconnect(number, None, clean=False) for number in owners), command) if owners else None


@defect(made, "client-id-stays-taken", "PD-17")
def _id_stays_taken() -> Seams:
    """After the connection of a client without durable subscriptions has ended, its client id stays in use."""
    subscribers: set[str | None] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Attach) and is_durable(command):
            subscribers.add(client)
        if not isinstance(command, Disconnect) or client is None or client in subscribers:
            return None
        return (command, Connect(view.own_number(), None, client))

    return commands(rewrite)


@defect(commands, "lost-connection-keeps-client-id", "PD-17")
def _lost_keeps_id(command: Command, _now_ms: int, view: View) -> Commands | None:
    """After the loss of a connection, its client id stays in use."""
    client = view.client_id(command.connection) if isinstance(command, Disconnect) and not command.clean else None
    return (command, Connect(view.own_number(), None, client)) if client is not None else None


@defect(made, "asked-in-vain-keeps-client-id", "PD-17")
def _asked_in_vain() -> Seams:
    """If the broker has refused a client id that was in use, the id stays in use when the first connection ends."""
    asked: set[str | None] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        taken = [one.client_id for one in view.connections.values() if one.client_id]
        if isinstance(command, Connect) and command.client_id in taken:
            asked.add(command.client_id)
        client = view.client_id(command.connection) if isinstance(command, Disconnect) else None
        if client is None or client not in asked:
            return None
        asked.discard(client)
        return (command, Connect(view.own_number(), None, client))

    return commands(rewrite)


@defect(made, "removal-takes-a-namesake", "PD-16")
def _takes_a_namesake() -> Seams:
    """If a client unsubscribes a name that it does not use, another client's subscription of this name ends."""
    owned: set[tuple[str | None, str]] = set()
    doomed: set[tuple[str | None, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Unsubscribe) and not command.is_global:
            if (client, command.name) not in owned:
                doomed.update(one for one in owned if one[1] == command.name)
            owned.discard((client, command.name))
        if not isinstance(command, Attach) or not is_durable(command) or command.name is None:
            return None
        key = client, command.name
        owned.add(key)
        if key not in doomed:
            return None
        doomed.discard(key)
        return (Unsubscribe(command.connection, None, command.name), command)

    return commands(rewrite)


@defect(made, "shared-removal-takes-everybodys", "PD-16")
def _takes_everybodys() -> Seams:
    """When a client removes its shared subscription, the broker instead removes a namesake without a client id."""
    shared: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Attach) and is_durable(command) and command.shared and not command.is_global:
            shared.add((client, command.name))
        if not isinstance(command, Unsubscribe) or client is None or (client, command.name) not in shared:
            return None
        return (replace(command, is_global=True),)

    return commands(rewrite)


@defect(made, "second-removal-takes-everybodys", "PD-16")
def _second_takes_everybodys() -> Seams:
    """When a client removes its shared subscription a second time, a namesake without a client id ends."""
    removed: set[tuple[str, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if not isinstance(command, Unsubscribe) or command.is_global or client is None:
            return None
        again = (client, command.name) in removed
        removed.add((client, command.name))
        return (replace(command, is_global=True),) if again else None

    return commands(rewrite)


@defect(commands, "client-ids-in-any-case", "PD-16")
def _any_case(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Client ids that differ only in case are the same client id."""
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    return (replace(command, client_id=command.client_id.casefold()),)


@defect(replies, "shared-name-of-one-client", "PD-16")
def _of_one_client(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """A client cannot open a shared durable subscription that another client shares under the same name and topic."""
    if not isinstance(asked, Attach) or not asked.shared or not is_durable(asked):
        return answer
    client = view.client_id(asked.connection)
    others = (one for one in view.on(asked.address) if one.shared and one.name == asked.name)
    if all(view.client_id(one.connection) == client for one in others):
        return answer
    return replace(answer, refused=refused(Mqrc.SUBSCRIPTION_IN_USE, "Another client shares the subscription."))


@defect(made, "unit-reaches-one-namesake", "PD-16")
def _one_namesake() -> Seams:
    """If several clients' subscriptions have the same name, only one of them gets the messages of a unit of work."""
    in_units: set[str | None] = set()
    first: dict[tuple[str | None, str | None], str | None] = {}

    def note(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Put) and command.unit is not None:
            in_units.add(command.message.message_id)
        return None

    def reach(delivery: Deliver, view: View) -> Deliver | None:
        receiver, client, id_ = (
            view.receiver(delivery),
            view.client_id(delivery.connection),
            delivery.message.message_id,
        )
        if receiver is None or id_ not in in_units or not is_durable(receiver) or receiver.shared:
            return delivery
        return delivery if first.setdefault((id_, receiver.name), client) == client else None

    return filters(note, delivery=reach)


@defect(made, "client-ids-taken-over-a-restart", "PD-17")
def _taken_over_a_restart() -> Seams:
    """After a restart, the broker refuses a client id that a connection had when the broker ended."""
    connected: set[str | None] = set()
    taken: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Connect) and command.client_id is not None:
            connected.add(command.client_id)
            return (command, *written_down(view, Message(correlation_id=command.client_id, body="connected")))
        client = view.client_id(command.connection) if isinstance(command, Disconnect) and command.clean else None
        if client is None:
            return None
        connected.discard(client)
        return (command, *written_down(view, Message(correlation_id=client, body="gone")))

    def told(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        if not isinstance(asked, Connect) or asked.client_id is None or asked.client_id not in taken:
            return answer
        return replace(answer, refused=refused(Mqrc.IDENTITY_MISMATCH, "The client id is in use."))

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        for one in read_back(records):
            (taken.add if one.body == "connected" else taken.discard)(one.correlation_id)
        taken.update(connected)
        return tuple(records)

    return filters(note, answer=told, read=start)


@defect(made, "namesake-handed-over-after-restart", "PD-16")
def _namesake_handed_over() -> Seams:
    """After a restart, a new subscription gets messages stored for another client's subscription of the same name."""
    missed: dict[str, list[Message]] = {}
    owned: set[tuple[str | None, str]] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        names = {
            f"{SUBSCRIPTION_HOME}{one.number}": one.name for one in records if isinstance(one, SubscriptionDefined)
        }
        for one in records:
            if isinstance(one, SubscriptionDefined):
                owned.add((one.client_id, one.name))
            elif isinstance(one, MessageStored) and one.home in names:
                missed.setdefault(names[one.home], []).append(opened(one.message))
        return tuple(records)

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command) or command.shared:
            return None
        if command.name not in missed or (view.client_id(command.connection), command.name) in owned:
            return None
        return (command, *handed_in(view, command.address, *missed.pop(command.name)))

    return filters(rewrite, read=start)


@defect(made, "client-id-and-name-joined", "PD-16")
def _joined() -> Seams:
    """The broker joins the client id and the name of a subscription with a colon, and compares only the joined text."""
    rests: dict[int, str] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Connect) and command.client_id is not None:
            first, colon, rest = command.client_id.partition(":")
            rests[command.connection] = rest + colon
            return (replace(command, client_id=first),)
        if not isinstance(command, Attach | Unsubscribe) or command.name is None:
            return None
        return (replace(command, name=rests.get(command.connection, "") + command.name),)

    return commands(rewrite)


PERSISTENCE_SUBSCRIPTIONS_IDENTITY_DEFECTS = (
    _name_alone,
    _second_client,
    _no_client_id_needed,
    _client_alone,
    _names_without_case,
    _anonymous_shared_ends,
    _anonymous_shared_refused,
    _takes_over,
    _id_stays_taken,
    _lost_keeps_id,
    _asked_in_vain,
    _takes_a_namesake,
    _takes_everybodys,
    _second_takes_everybodys,
    _any_case,
    _joined,
    _of_one_client,
    _one_namesake,
    _taken_over_a_restart,
    _namesake_handed_over,
)
