"""Functions that make a defect's filters from a function that rewrites commands, sends, answers, deliveries or records.

Each call makes new filters with a `View` of their own.  Most rewriting functions get the view as their last argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.records import Record
from assay_broker.core.states.tables import Tables
from assay_broker.defects.sends import rows
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc, refused

_NO_PRIORITY = 10
"""A priority that the broker refuses: JMS has priorities 0 to 9."""

Commands = tuple[Command, ...]

Rewrite = Callable[[Command, int, View], Commands | None]
"""A function that returns the commands that replace a command, at a given time; None leaves the command as it is."""

PutRewrite = Callable[[Put, Address, int, View], Commands | None]
"""A function that returns the commands that replace a send to a destination; None leaves the send as it is."""

Reshow = Callable[[Answer, Command, int, View], Answer]
"""A function that returns the answer that replaces an answer to a command."""

Redeliver = Callable[[Deliver, View], Deliver | None]
"""A function that returns the delivery that replaces a delivery; None if the broker is to lose the delivery."""

Retell = Callable[[Sent, Answer], Answer]
"""A function that computes, from a send and the broker's answer, the answer that the sender gets."""

ReadRewrite = Callable[[Sequence[Record], View], tuple[Record, ...]]
"""A function that returns the records to read at a start, or to write, in place of the given ones."""

Judge = Callable[[Put, Address, int, View], Mqrc | None]
"""A function that returns the reason code with which a send to a destination is refused; None to accept the send."""


def _same_effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
    return passing


def _same_records(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    return tuple(records)


def filters(
    command: Rewrite = lambda _command, _now_ms, _view: None,
    *,
    effects: Callable[[tuple[Effect, ...], int, View], tuple[Effect, ...]] = _same_effects,
    answer: Reshow | None = None,
    delivery: Redeliver | None = None,
    read: ReadRewrite = _same_records,
    written: ReadRewrite = _same_records,
    tables: Callable[[Tables, View], Tables] = lambda tables, _view: tables,
) -> Seams:
    """Make filters of all kinds that share a view.

    Args:
        command: Rewrites commands.
        effects: Rewrites the effects of one turn.
        answer: Rewrites answers to commands, after `effects`.
        delivery: Rewrites deliveries, after `effects`.
        read: Rewrites the records from which the queue manager starts.
        written: Rewrites the records that are to be written.
        tables: Rewrites the broker's state tables when the queue manager starts.
    """
    view = View()

    def take(asked: Command, now_ms: int) -> Commands:
        rewritten = command(asked, now_ms, view)
        passed = (asked,) if rewritten is None else rewritten
        view.note(asked, passed, now_ms)
        return passed

    def seen(effect: Effect, now_ms: int) -> Effect | None:
        if isinstance(effect, Deliver) and delivery is not None:
            return delivery(effect, view)
        if isinstance(effect, Answer) and answer is not None:
            asked, _ = view.asked(effect)
            return effect if asked is None else answer(effect, asked, now_ms, view)
        return effect

    def give(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        view.heed(passing)
        passed = [seen(effect, now_ms) for effect in effects(passing, now_ms, view)]
        view.answered(passing)
        return tuple(effect for effect in passed if effect is not None)

    def start(records: Sequence[Record]) -> tuple[Record, ...]:
        view.start()
        passed = read(records, view)
        view.started()
        return passed

    return Seams(
        command=take,
        effects=give,
        read=start,
        written=lambda records: written(records, view),
        settings=view.configure,
        tables=lambda given: tables(given, view),
    )


def commands(rewrite: Rewrite) -> Seams:
    """Make filters that rewrite some commands."""
    return filters(rewrite)


def puts(rewrite: PutRewrite, read: ReadRewrite = _same_records, delivery: Redeliver | None = None) -> Seams:
    """Make filters that rewrite some sends and, with `read` or `delivery`, the records at a start or the deliveries."""

    def only_puts(command: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        return rewrite(command, target, now_ms, view) if isinstance(command, Put) and target is not None else None

    return filters(only_puts, read=read, delivery=delivery)


def delayed_puts(rewrite: Callable[[Put, Sent, View], Commands | None]) -> Seams:
    """Make filters that rewrite some delayed sends."""

    def only_delayed(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        return None if sent is None or not sent.delayed else rewrite(sent.put, sent, view)

    return filters(only_delayed)


def puts_without_destination(rewrite: Callable[[Sent, View], Commands | None]) -> Seams:
    """Make filters that rewrite some sends of producers that were opened without a destination."""

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(passing, now_ms)
        return None if sent is None or not view.names_no_destination(sent.put) else rewrite(sent, view)

    return filters(command)


def delayed_messages(rewrite: Callable[[Message], Message]) -> Seams:
    """Make filters that alter messages that are sent with a delay."""
    return delayed_puts(lambda put, _sent, _view: (replace(put, message=rewrite(opened(put.message))),))


def changes(rewrite: Callable[[Change, View], Change | None]) -> Seams:
    """Make filters that replace some of the changes that an administrator asks for.

    Args:
        rewrite: Returns the replacement of a change; None leaves the change as it is.
    """

    def only_changes(command: Command, _now_ms: int, view: View) -> Commands | None:
        other = rewrite(command.change, view) if isinstance(command, Administer) else None
        return None if other is None else (replace(command, change=other),)

    return filters(only_changes)


def deliveries(rewrite: Redeliver) -> Seams:
    """Make filters that rewrite some deliveries, or drop them."""
    return filters(delivery=rewrite)


def replies(rewrite: Reshow) -> Seams:
    """Make filters that rewrite answers to commands."""
    return filters(answer=rewrite)


def answers(retell: Retell) -> Seams:
    """Make filters that rewrite the answers to sends."""
    return filters(effects=retold(retell))


def retold(retell: Retell) -> Callable[[tuple[Effect, ...], int, View], tuple[Effect, ...]]:
    """Make a function that rewrites the answers to sends, for the argument `effects` of `filters`."""

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        return tuple(told(effect, view) if isinstance(effect, Answer) else effect for effect in passing)

    def told(answer: Answer, view: View) -> Answer:
        _, sent = view.asked(answer)
        return answer if sent is None else retell(sent, answer)

    return effects


def refusing(judge: Judge, text: str) -> Seams:
    """Make filters that refuse some sends.

    Args:
        judge: Returns the reason code for refusing a send; None accepts the send.
        text: The explanation that the refusals contain.
    """
    reasons: dict[tuple[int, int | None], Mqrc] = {}

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(passing)
        if not isinstance(passing, Put) or target is None:
            return None
        reason = judge(passing, target, now_ms, view)
        if reason is None:
            return None
        reasons[passing.connection, passing.token] = reason
        return (replace(passing, message=replace(passing.message, priority=_NO_PRIORITY)),)

    def told(answer: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        reason = reasons.pop((answer.connection, answer.token), None)
        return answer if reason is None else replace(answer, refused=refused(reason, f"{reason.label}: {text}"))

    return filters(command, answer=told)


def reading(rewrite: ReadRewrite) -> Seams:
    """Make filters that rewrite the records from which the queue manager starts, with the help of a view."""
    return filters(read=rewrite)


def writing(rewrite: ReadRewrite) -> Seams:
    """Make filters that rewrite the records that are to be written."""
    return filters(written=rewrite)


def starting(rewrite: Callable[[Tables, View], Tables]) -> Seams:
    """Make filters that rewrite the broker's state tables when the queue manager starts."""
    return filters(tables=rewrite)


def shown(rewrite: Callable[[Described], Described]) -> Seams:
    """Make filters that rewrite each message, with descriptor and headers, in answers to administrators."""

    def effects(passing: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        return tuple(reshown(effect, rewrite) if isinstance(effect, Answer) else effect for effect in passing)

    return Seams(effects=effects)


def reshown(answer: Answer, rewrite: Callable[[Described], Described]) -> Answer:
    """Rewrite each message with a descriptor in an answer."""
    described = tuple(rows(answer))
    return replace(answer, value=tuple(map(rewrite, described))) if described else answer


def written(rewrite: Callable[[Record], tuple[Record, ...]]) -> Seams:
    """Make filters that rewrite each record on its way to the store."""
    return Seams(written=lambda records: tuple(out for record in records for out in rewrite(record)))


def read(rewrite: Callable[[Record], tuple[Record, ...]]) -> Seams:
    """Make filters that rewrite each record on its way from the store."""
    return Seams(read=lambda records: tuple(out for record in records for out in rewrite(record)))


def read_together(rewrite: Callable[[Sequence[Record]], tuple[Record, ...]]) -> Seams:
    """Make filters that rewrite the records from which the queue manager starts, without the help of a view."""
    return Seams(read=rewrite)
