"""What defects do with answers to sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.effects import Answer, Effect
from assay_broker.core.records import Record
from assay_broker.defects.model import Watch, commands
from assay_broker.defects.objects import Objects
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc, refused

_NO_PRIORITY = 10
"""A priority that there is not: a message that bears it is refused, whatever else it is."""

Retell = Callable[[Put, Address, Answer], Answer]
"""A send, its destination and its answer, to the answer that its sender gets."""

Judge = Callable[[Put, Address, int, Objects], Mqrc | None]
"""A send, its destination, the time and the objects, to the reason for which it is refused; None lets it pass."""


def _retold(seams: Seams, told: Callable[[Answer], Answer]) -> Seams:
    """These filters, and one more that rewrites answers on their way out."""

    def effects(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        return tuple(
            told(effect) if isinstance(effect, Answer) else effect for effect in seams.effects(passing, now_ms)
        )

    return replace(seams, effects=effects)


def answers(retell: Retell) -> Seams:
    """Filters that rewrite the answers to sends."""
    asked: dict[tuple[int, int], tuple[Put, Address]] = {}

    def note(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Put) and command.token is not None:
            target = watch.target(command)
            if target is not None:
                asked[command.connection, command.token] = command, target
        return None

    def _told(answer: Answer) -> Answer:
        found = asked.pop((answer.connection, answer.token), None)
        return answer if found is None else retell(*found, answer)

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        asked.clear()
        return seams.read(records)

    seams = commands(note)
    return replace(_retold(seams, _told), read=read)


def refusing(judge: Judge, text: str) -> Seams:
    """Filters that refuse some sends.

    Args:
        judge: Which, and for what reason.
        text: What their senders are told.
    """
    objects = Objects()
    reasons: dict[tuple[int, int | None], Mqrc] = {}

    def command(passing: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(passing, Administer):
            objects.note(passing.change)
        if not isinstance(passing, Put):
            return None
        target = watch.target(passing)
        reason = None if target is None else judge(passing, target, now_ms, objects)
        if reason is None:
            return None
        reasons[passing.connection, passing.token] = reason
        return (replace(passing, message=replace(passing.message, priority=_NO_PRIORITY)),)

    def _told(answer: Answer) -> Answer:
        reason = reasons.pop((answer.connection, answer.token), None)
        return answer if reason is None else replace(answer, refused=refused(reason, f"{reason.label}: {text}"))

    seams = commands(command)
    return _retold(seams, _told)
