"""The scenarios of stomp-liveness: they connect clients to a broker through relays, and judge the relays' records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from assay.liveness.defects import Defect
from assay.liveness.judge import PATIENCE, Finding, Verdict, judge
from assay.liveness.plain import SCRIPTS, NotAcceptedError, Script, Target, play
from assay.liveness.record import Record
from assay.liveness.relay import Breaker, Line, Relay
from assay.liveness.rules import BY_ID, RULES, Side
from assay.liveness.subject import Subject
from assay_features import Strength
from assay_sdk import MessagingRuntimeError

WIRE = "wire"
"""The folder of the records, in the folder of the evidence."""
_LIMIT_S = 15.0
_IDLE, _BUSY = 6, 4
"""The lengths of a client's phases `idle` and `busy`, in intervals of its heart-beats."""

_OF_SERVERS: Mapping[str, tuple[str, ...]] = {
    "idle": ("SL-01", "SL-02", "SL-03"),
    "frames": ("SL-03",),
    "mute": ("SL-04", "SL-05"),
    "none": ("SL-06",),
}
"""The rules that the record of each script decides, by the script's phase."""
_OF_CLIENTS: Sequence[tuple[int, str, tuple[str, ...]]] = (
    (1, "idle", ("SL-07", "SL-08", "SL-10")),
    (1, "busy", ("SL-09", "SL-10")),
    (1, "silent", ("SL-11", "SL-12")),
    (2, "idle", ("SL-13",)),
)
"""The rules that the records of a client's connections decide.

Each row has the number of the connection, the name of its phase, and the rules.
"""
_WORST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_PROMISED, Verdict.RECORDED, Verdict.PASS)


class Settings(Struct, frozen=True):
    """The settings of a run.

    Args:
        interval_ms: The interval of heart-beats that the kit's clients offer and request, in milliseconds.
        ours: Whether broker and client are the kit's own, so that kit rules can fail.
        out: The folder of the evidence.
        defect: The defect to simulate; None for none.
        sides: The ends to judge.
    """

    interval_ms: int
    ours: Mapping[Side, bool]
    out: Path
    defect: Defect | None = None
    sides: tuple[Side, ...] = tuple(Side)

    def breaker(self) -> Breaker | None:
        """Return a new breaker of the defect; None without a defect."""
        return None if self.defect is None else self.defect.breaker(self.interval_ms)


def run(target: Target, subject: Subject, settings: Settings) -> list[Finding]:
    """Run all scenarios, and return a finding for each rule of the judged ends, in the order of the rules."""
    found: list[Finding] = []
    if Side.SERVER in settings.sides:
        found += _servers(target, settings)
    if Side.CLIENT in settings.sides:
        found += _clients(target, subject, settings)
    return summed(found, settings.ours)


def summed(found: Iterable[Finding], ours: Mapping[Side, bool]) -> list[Finding]:
    """Return the worst finding of each rule."""
    worst: dict[str, Finding] = {}
    for one in found:
        counted = _counted(one, ours)
        before = worst.get(one.rule)
        if before is None or _WORST.index(counted.verdict) < _WORST.index(before.verdict):
            worst[one.rule] = counted
    return [worst[rule.id] for rule in RULES if rule.id in worst]


def _counted(one: Finding, ours: Mapping[Side, bool]) -> Finding:
    """Return a finding; if STOMP does not demand the rule, a product's fail becomes "recorded"."""
    rule = BY_ID[one.rule]
    if one.verdict is Verdict.FAIL and rule.strength is Strength.KIT and not ours[rule.judged]:
        return Finding(one.rule, Verdict.RECORDED, one.scenario, one.text)
    return one


# --- servers


def _servers(target: Target, settings: Settings) -> list[Finding]:
    with ThreadPoolExecutor(len(SCRIPTS)) as pool:
        jobs = [pool.submit(_server, script, target, settings) for script in SCRIPTS]
        return [one for job in jobs for one in job.result()]


def _server(script: Script, target: Target, settings: Settings) -> list[Finding]:
    scenario, rules = f"server-{script.phase}", _OF_SERVERS[script.phase]
    relay = Relay(target.host, target.port, settings.breaker())
    try:
        line = play(script, relay, target, settings.interval_ms)
        record = line.record(scenario, script.phase)
    except (NotAcceptedError, OSError) as error:
        return [Finding(rule, Verdict.INCONCLUSIVE, scenario, str(error)) for rule in rules]
    finally:
        relay.close()
    return _judged(record, rules, settings.out)


def _judged(record: Record, rules: Iterable[str], out: Path) -> list[Finding]:
    folder = out / WIRE
    folder.mkdir(parents=True, exist_ok=True)
    record.write(folder / f"{record.scenario}.jsonl")
    return [judge(BY_ID[rule], record) for rule in rules]


# --- clients


def _clients(target: Target, subject: Subject, settings: Settings) -> list[Finding]:
    relay = Relay(target.host, target.port, settings.breaker())
    why = ""
    try:
        try:
            _live(relay, subject, settings.interval_ms / 1_000)
        except (MessagingRuntimeError, NotHeardError, OSError) as error:
            why = str(error)
        subject.close()
        return [
            one for number, phase, rules in _OF_CLIENTS for one in _client(relay, number, phase, rules, settings, why)
        ]
    finally:
        relay.close()


def _client(  # noqa: PLR0917  a row of `_OF_CLIENTS`, and the objects of the run
    relay: Relay, number: int, phase: str, rules: tuple[str, ...], settings: Settings, why: str
) -> list[Finding]:
    scenario = f"client-{phase}" if number == 1 else f"client-{phase}-{number}"
    # A client may have further connections, such as one for each receiver; they have no phases.
    lines = [line for line in relay.lines if phase in line.marks]
    if len(lines) < number:
        text = why or "the client did not come to this phase"
        return [Finding(rule, Verdict.INCONCLUSIVE, scenario, text) for rule in rules]
    return _judged(lines[number - 1].record(scenario, phase), rules, settings.out)


class NotHeardError(RuntimeError):
    """The client's listener did not get its message."""


def _live(relay: Relay, subject: Subject, interval_s: float) -> None:
    """Take a client through its phases: idle, with a busy listener, with a silent server, and connected again."""
    line = _connect(relay, subject)
    line.begin("idle")
    line.over.wait(_IDLE * interval_s)
    line.finish()
    if not line.over.is_set():
        begun = subject.busy((_BUSY + 1) * interval_s)
        if not begun.wait(_LIMIT_S):
            raise NotHeardError("the client's listener did not get its message")
        listening = _listening(relay, line)
        listening.begin("busy")
        listening.over.wait(_BUSY * interval_s)
        listening.finish()
    if not line.over.is_set():
        line.over.wait(2 * interval_s)  # until the listener has ended
    if not line.over.is_set():
        line.begin("silent")
        line.over.wait((PATIENCE + 1) * interval_s)
        line.finish()
    line.end(Side.SERVER)
    line = _again(relay, subject)
    line.begin("idle")
    line.over.wait(_IDLE * interval_s)
    line.finish()


def _listening(relay: Relay, line: Line) -> Line:
    """Return the connection over which the server sent the listener's message; by default the client's first one."""
    return next((one for one in reversed(relay.lines) if b"MESSAGE\n" in one.said(Side.SERVER)), line)


def _connect(relay: Relay, subject: Subject) -> Line:
    subject.connect(relay.port)
    return relay.lines[-1]


def _again(relay: Relay, subject: Subject) -> Line:
    """Connect again; repeat failed attempts for `_LIMIT_S` seconds, as the client may still end its old connection."""
    end = time.monotonic() + _LIMIT_S
    while True:
        try:
            return _connect(relay, subject)
        except (MessagingRuntimeError, OSError):
            if time.monotonic() > end:
                raise
