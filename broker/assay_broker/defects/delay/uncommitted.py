"""Defects of what a unit of work has sent and not committed: who gets it, and what becomes of it at the unit's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, Begin, Command, Commit, Disconnect, Put, Settle
from assay_broker.core.records import Record
from assay_broker.defects.model import Defect, Held, Watch, commands, dropped, handed_in, is_topic, puts
from assay_broker.seams import Seams
from assay_sdk.model.message import Address

_AGENT = -8  # a connection of the defect's own


def _is_delayed(put: Put, now_ms: int) -> bool:
    return (put.message.delivery_time_ms or 0) > now_ms


def _hidden_from_own(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (replace(command, session=None),) if isinstance(command, Attach) else None


def _one_session(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (replace(command, session=0),) if isinstance(command, Attach | Begin) else None


def _at_once(put: Put, target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if put.unit is None or is_topic(target) or _is_delayed(put, now_ms):
        return None
    return (replace(put, unit=None),)


def _lost_at_commit(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return None if put.unit is None else (dropped(put, now_ms),)


class _Sent:
    """What open units of work have sent to queues."""

    def __init__(self) -> None:
        self._units: dict[tuple[int, int], list[tuple[Put, Address]]] = {}

    def note(self, command: Command, watch: Watch) -> None:
        """Take note of a command that is about to pass."""
        if isinstance(command, Put) and command.unit is not None:
            target = watch.target(command)
            if target is not None and not is_topic(target):
                self._units.setdefault((command.connection, command.unit), []).append((command, target))

    def ended(self, command: Command) -> list[tuple[Put, Address]]:
        """What the units have sent that a command ends."""
        if isinstance(command, Commit | Backout):
            return self._units.pop((command.connection, command.unit), [])
        if not isinstance(command, Disconnect):
            return []
        units = [unit for unit in self._units if unit[0] == command.connection]
        return [sent for unit in units for sent in self._units.pop(unit)]


def _after_backout(wanted: Callable[[Put], bool]) -> Seams:
    """What a unit of work has sent stays although the unit was backed out."""
    sent = _Sent()

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        sent.note(command, watch)
        ended = sent.ended(command)
        if isinstance(command, Commit):
            return None
        late = [one for put, target in ended if wanted(put) for one in handed_in(_AGENT, target, put.message)]
        return (command, *late) if late else None

    return commands(rewrite)


def _consumed_stays() -> Seams:
    """What a unit of work has both sent and consumed is there after its commit."""
    sent, held = _Sent(), Held()
    consumed: set[str | None] = set()

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        sent.note(command, watch)
        if isinstance(command, Settle) and command.unit is not None:
            consumed.update(delivery.message.message_id for delivery in held.settled(command))
        held.note(command)
        ended = sent.ended(command)
        if not isinstance(command, Commit):
            return None
        stays = [(put, target) for put, target in ended if put.message.message_id in consumed]
        return (command, *(one for put, target in stays for one in handed_in(_AGENT, target, put.message)))

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        consumed.clear()
        return seams.read(records)

    seams = commands(rewrite)
    return replace(seams, effects=held.heed, read=read)


UNCOMMITTED_DEFECTS = (
    Defect(
        name="uncommitted-from-own-hidden",
        rules=("DD-25",),
        text="A unit of work cannot get what it has put itself before its commit.",
        apply=lambda: commands(_hidden_from_own),
    ),
    Defect(
        name="uncommitted-for-connection",
        rules=("DD-25",),
        text="What a unit of work has put and not committed is there for every session of its connection.",
        apply=lambda: commands(_one_session),
    ),
    Defect(
        name="put-leaves-unit",
        rules=("DD-25",),
        text="A send without a delay takes no part in its unit of work: everybody gets it at once.",
        apply=lambda: puts(_at_once),
    ),
    Defect(
        name="lost-at-commit",
        rules=("DD-25", "DD-26"),
        text="What a unit of work has sent is lost.",
        apply=lambda: puts(_lost_at_commit),
    ),
    Defect(
        name="consumed-in-own-unit-stays",
        rules=("DD-25",),
        text="What a unit of work has both sent and consumed is there after its commit.",
        apply=_consumed_stays,
    ),
    Defect(
        name="stays-after-backout",
        rules=("DD-25",),
        text="What a unit of work has sent without a delay stays although it was backed out.",
        apply=lambda: _after_backout(lambda put: put.message.delivery_time_ms is None),
    ),
    Defect(
        name="staged-by-backout",
        rules=("DD-26",),
        text="The delayed messages of a unit of work are staged when it is backed out.",
        apply=lambda: _after_backout(lambda put: put.message.delivery_time_ms is not None),
    ),
)
