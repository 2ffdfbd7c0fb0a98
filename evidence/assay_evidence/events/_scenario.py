"""The events of a scenario: its begin and end, its steps and its claims."""

from __future__ import annotations

from typing import Literal

from assay_evidence.events._event import Event

Predicate = Literal[
    "refused-with",
    "accepted",
    "not-before",
    "by",
    "delivered-exactly",
    "delivered-at-most",
    "never-seen",
    "delivered-at-least",
    "redelivered",
    "in-order",
    "equal-fields",
    "mentions",
    "in-range",
    "found-by-browse",
    "flushed-before",
    "batch-shape",
    "transferred",
    "disposed",
    "one-of",
    "all-or-nothing",
    "only-sent",
    "comes-back",
    "queue-kept",
    "own-check",
]


class ScenarioBegin(Event, frozen=True, kw_only=True, tag="scenario"):
    """The start of a scenario; `Event.scenario` is its id.

    A field that also exists in `PlannedScenario` has the value of the plan.

    Args:
        client: The name, version and face of the client that runs the scenario; empty if no client runs it.
        line: The scenario's line in the feature file; 0 if unknown.
        attempt: The number of the attempt at the scenario, from 1.
        repeats: For a second or later attempt, the scenario's id; `Event.scenario` is then the id of the attempt.
    """

    rules: tuple[str, ...]
    judged: str
    strength: str
    foreign: bool = False
    client: str = ""
    line: int = 0
    role: str = "core"
    probe: str = ""
    attempt: int = 1
    repeats: str = ""


class ScenarioEnd(Event, frozen=True, kw_only=True, tag="scenario-end"):
    """The end of a scenario, after its clean-up.

    Args:
        elapsed_ns: The scenario's duration on the wall clock, in nanoseconds.
        waited_ns: The time for which the steps waited, on the backend's clock, in nanoseconds.
        late_ns: The total delay of the harness on a busy machine, in nanoseconds. One thread of the harness does
            nothing but sleep for short times; `late_ns` is the sum of the times by which it woke up too late. None in
            virtual time.
        longest_ns: The longest of these delays, in nanoseconds.  None in virtual time, and in journals of versions
            that do not write long delays as events of their own (`Late`).
    """

    elapsed_ns: int
    waited_ns: int
    late_ns: int | None = None
    longest_ns: int | None = None


class Late(Event, frozen=True, kw_only=True, tag="late"):
    """A delay of the harness on a busy machine, written when the delay ends.

    An event that the harness writes after this one may have happened during the delay.

    Args:
        held_ns: The longest possible duration of the delay, in nanoseconds: the time since the harness last showed that
            it ran.
        late_ns: The measured delay in nanoseconds; a part of `ScenarioEnd.late_ns`.
    """

    held_ns: int
    late_ns: int


class Unsupported(Event, frozen=True, kw_only=True, tag="unsupported"):
    """The reason why a scenario was not run: the pair lacks something that the scenario needs.

    Args:
        capability: The name of the missing capability or circumstance.
        reason: The reason in one sentence.
        source: The document or source file that supports the reason.
        apart: Whether the missing thing is something other than an ability of the pair, such as virtual time; then the
            rule's other scenarios decide the rule.
    """

    capability: str
    reason: str
    source: str = ""
    apart: bool = False


class Step(Event, frozen=True, kw_only=True, tag="step"):
    """A step that has run; its outcome does not depend on claims.

    Args:
        keyword: The step's keyword, such as ``Given`` or ``And``.
        text: The step's sentence.
        outcome: ``done``; ``refused`` if the pair refused something that the scenario needs to try its rule;
            ``broken`` if the kit or its environment failed.
        detail: The reason of an outcome other than ``done``, in one sentence.
        line: The step's line in the feature file; 0 if unknown.
        type: ``given``, ``when`` or ``then``, even for the keyword ``And``; empty if unknown.
        claims: The references (``writer:seq``) of the step's claims; a Then-step that is done makes at least one claim.
        shared_fault: Whether the step broke because a fault that several scenarios shared failed, or because their
            shared broker stopped answering.
        silent: Whether the step notes that the broker of this scenario alone stopped answering.
    """

    keyword: str
    text: str
    outcome: Literal["done", "refused", "broken"]
    detail: str = ""
    line: int = 0
    type: Literal["given", "when", "then", ""] = ""
    claims: tuple[str, ...] = ()
    shared_fault: bool = False
    silent: bool = False


class Claim(Event, frozen=True, kw_only=True, tag="claim"):
    """A Then-step's claim: a predicate about evidence, without a result.

    Args:
        rule: The rule's id; empty in a scenario that tries no rule of the catalogue.
        predicate: The predicate that decides the claim.
        of: The references by name: ``writer:seq`` of calls, keys of messages, or actors, as the predicate needs them.
        bounds: The numbers by name: counts, and durations in milliseconds (their names end in ``_ms``).
        text: The step's sentence.
    """

    rule: str
    predicate: Predicate
    of: dict[str, str] = {}
    bounds: dict[str, int] = {}
    text: str = ""
