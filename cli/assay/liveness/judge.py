"""The verdicts of the profile stomp-liveness, from the records of connections alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from assay.liveness.record import AbsentError, FormError, Record
from assay.liveness.rules import LivenessRule, Side

TOLERANCE = 1.5
"""An end breaks its promise if it sends no octet for more than this number of intervals.

STOMP 1.2 asks a receiver to allow for a margin of error, but gives no number. stomp.py allows one and a half intervals,
Artemis and stompjs two, so none of them reacts to a shorter gap.
"""
PATIENCE = 5
"""The number of intervals within which an end must notice that the other one is silent."""


class Verdict(StrEnum):
    """The verdict on one rule."""

    PASS = "pass"  # noqa: S105  no password
    FAIL = "fail"
    NOT_PROMISED = "not promised"
    """One end sends no heart-beats, or the other end requests none, so there is nothing to judge."""
    INCONCLUSIVE = "inconclusive"
    """The record does not decide the rule: for example, the kit itself was late, or the connection ended too early."""
    RECORDED = "recorded"
    """A product does not do what the kit's own parts must do; STOMP permits it."""


class Finding(Struct, frozen=True):
    """The verdict on one rule, and the observation.

    Args:
        rule: The rule's id.
        verdict: The verdict.
        scenario: The id of the scenario.
        text: The observation.
    """

    rule: str
    verdict: Verdict
    scenario: str
    text: str


class _Found(Struct, frozen=True):
    verdict: Verdict
    text: str


def judge(rule: LivenessRule, record: Record) -> Finding:
    """Judge one rule by one record."""
    found = _CHECKS[rule.id](rule.judged, record)
    return Finding(rule.id, found.verdict, record.scenario, found.text)


def _states(side: Side, record: Record) -> _Found:
    try:
        promise = record.promise(side)
    except FormError as error:
        return _Found(Verdict.FAIL, f"the header heart-beat is {str(error)!r}, and not two numbers with a comma")
    except AbsentError:
        return _Found(Verdict.INCONCLUSIVE, f"the {side} has sent no frame that opens the connection")
    return _Found(Verdict.PASS, f"heart-beat:{promise.sends_ms},{promise.wants_ms}")


def _interval(side: Side, record: Record) -> int | _Found:
    """Return the interval that an end has promised, in milliseconds; or, without a known promise, the verdict."""
    try:
        interval = record.interval_ms(side)
    except (FormError, AbsentError):
        return _Found(Verdict.INCONCLUSIVE, "a header heart-beat is missing or malformed, so the kit knows no promise")
    if not interval:
        mine = record.promise(side)
        why = "sends no heart-beats" if not mine.sends_ms else "was not asked for any"
        return _Found(Verdict.NOT_PROMISED, f"the {side} {why} ({mine.sends_ms},{mine.wants_ms})")
    return interval


def _sends(side: Side, record: Record) -> _Found:
    interval = _interval(side, record)
    if isinstance(interval, _Found):
        return interval
    begin, ended = record.phase.begin_ms, record.ended
    end = record.phase.end_ms if ended is None else min(record.phase.end_ms, ended.at_ms)
    times = [event.at_ms for event in record.of(side) if event.octets and event.at_ms <= end]
    last = max((at for at in times if at <= begin), default=begin)
    inside = [at for at in times if at > begin]
    longest = max(after - before for before, after in zip((last, *inside), (*inside, end), strict=True))
    text = f"promised every {interval} ms; the longest silence of the {side} was {longest:.0f} ms"
    if longest > interval * TOLERANCE + record.late_ms:
        return _Found(Verdict.FAIL, text)
    if longest > interval * TOLERANCE:
        return _Found(Verdict.INCONCLUSIVE, f"{text}, and the kit itself was late by {record.late_ms:.0f} ms")
    if ended is not None and end < record.phase.end_ms:
        return _Found(Verdict.INCONCLUSIVE, f"{text}, and the {ended.side} ended the connection after {end:.0f} ms")
    if not inside and end - begin <= interval * TOLERANCE:
        return _Found(Verdict.INCONCLUSIVE, f"{text}, and the kit observed only {end - begin:.0f} ms")
    return _Found(Verdict.PASS, text)


def _keeps(side: Side, record: Record) -> _Found:
    """Judge whether an end keeps the connection while the other one sends as it has promised."""
    interval = _interval(side.other, record)
    if isinstance(interval, _Found) and interval.verdict is not Verdict.NOT_PROMISED:
        return interval
    ended = record.ended
    if ended is None or ended.at_ms >= record.phase.end_ms:
        return _Found(Verdict.PASS, f"the connection was open for {record.phase.end_ms:.0f} ms")
    if ended.side is not side:
        return _Found(Verdict.INCONCLUSIVE, f"the {ended.side} ended the connection after {ended.at_ms:.0f} ms")
    text = f"the {side} ended the connection after {ended.at_ms:.0f} ms"
    silence = _longest(side.other, record, ended.at_ms)
    if not isinstance(interval, _Found) and silence > interval:
        return _Found(Verdict.INCONCLUSIVE, f"{text}, and the {side.other} had been silent for {silence:.0f} ms")
    return _Found(Verdict.FAIL, f"{text}{_words(side, record)}")


def _longest(side: Side, record: Record, until_ms: float) -> float:
    times = [event.at_ms for event in record.of(side) if event.octets and event.at_ms <= until_ms]
    return max((after - before for before, after in zip(times, (*times[1:], until_ms), strict=True)), default=0.0)


def _silence(side: Side, record: Record) -> tuple[int, float, float | None] | _Found:
    """Return the interval that the silent end has promised, and two times, all in milliseconds.

    The first time is that of the silent end's last octet. The second is the time at which the judged end ended the
    connection, or None if that end did not end it.
    """
    interval = _interval(side.other, record)
    if isinstance(interval, _Found):
        return interval
    last = max((event.at_ms for event in record.of(side.other) if event.octets), default=0.0)
    ended = record.ended
    if ended is not None and ended.side is not side:
        return _Found(Verdict.INCONCLUSIVE, f"the {ended.side} ended the connection after {ended.at_ms:.0f} ms")
    return interval, last, None if ended is None else ended.at_ms


def _waits(side: Side, record: Record) -> _Found:
    found = _silence(side, record)
    if isinstance(found, _Found):
        return found
    interval, last, ended = found
    if ended is None:
        return _Found(Verdict.PASS, f"the {side} has not ended the connection")
    text = f"promised every {interval} ms; the {side} ended the connection {ended - last:.0f} ms after the last octet"
    if ended - last >= interval - 1:
        return _Found(Verdict.PASS, f"{text}{_words(side, record)}")
    if ended - last >= interval - record.late_ms:
        return _Found(Verdict.INCONCLUSIVE, f"{text}, and the kit itself was late by {record.late_ms:.0f} ms")
    return _Found(Verdict.FAIL, f"{text}{_words(side, record)}")


def _notices(side: Side, record: Record) -> _Found:
    found = _silence(side, record)
    if isinstance(found, _Found):
        return found
    interval, last, ended = found
    if ended is None:
        waited = record.phase.end_ms - last
        text = f"promised every {interval} ms; the connection was open {waited:.0f} ms after the last octet"
        return _Found(Verdict.FAIL if waited >= interval * PATIENCE else Verdict.INCONCLUSIVE, text)
    text = f"promised every {interval} ms; the {side} ended the connection {ended - last:.0f} ms after the last octet"
    if ended - last <= interval * PATIENCE + record.late_ms:
        return _Found(Verdict.PASS, f"{text}{_words(side, record)}")
    return _Found(Verdict.FAIL, f"{text}{_words(side, record)}")


def _words(side: Side, record: Record) -> str:
    """Return a clause about the ERROR frame that an end has sent; empty if the end has sent none."""
    sent = b"".join(event.octets for event in record.of(side))
    _, found, error = sent.partition(b"ERROR\n")
    if not found:
        return ""
    for line in error.split(b"\n"):
        if line.startswith(b"message:"):
            text = line.removeprefix(b"message:").replace(b"\\c", b":").decode(errors="replace")
            return f", with an ERROR: {text}"
    return ", with an ERROR"


def _expects_none(side: Side, record: Record) -> _Found:
    ended = record.ended
    if ended is None or ended.at_ms >= record.phase.end_ms:
        return _Found(Verdict.PASS, f"the connection was open for {record.phase.end_ms:.0f} ms")
    verdict = Verdict.FAIL if ended.side is side else Verdict.INCONCLUSIVE
    text = f"the {ended.side} ended the connection after {ended.at_ms:.0f} ms{_words(side, record)}"
    return _Found(verdict, text)


_CHECKS: Mapping[str, Callable[[Side, Record], _Found]] = {
    "SL-01": _states,
    "SL-02": _sends,
    "SL-03": _keeps,
    "SL-04": _waits,
    "SL-05": _notices,
    "SL-06": _expects_none,
    "SL-07": _states,
    "SL-08": _sends,
    "SL-09": _sends,
    "SL-10": _keeps,
    "SL-11": _waits,
    "SL-12": _notices,
    "SL-13": _sends,
}
"""The check of each rule."""
