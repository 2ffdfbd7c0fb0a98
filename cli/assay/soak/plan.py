"""The plan of a soak: slices, workloads, messages and faults, all computed from the options and the seed.

The same options and seed give the same plan.  `plan.json` holds the plan; the messages of each producer appear there
as their number and a SHA-256 digest, because `acts` can compute them again at any time.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from assay.soak.loads import WORKLOADS
from assay.soak.workloads import LONGEST_MS, Delays, Workload
from assay_adapters.ports.client import Mode
from assay_sdk.model.capabilities import Capability

SCHEMA = 1
SLICE_MS = 20_000
"""About how long a slice lasts, in milliseconds; a soak has a whole number of equal slices."""
ROLLBACK_PERCENT = 33
SHORTEST_MS = 100
SHORTEST_LIFE_MS = 300
SOONEST_BURST_MS = 500
MEAN_MS = 600
SIZES = (64, 256, 1_024, 8_192)
"""The lengths of bodies in bytes; each length is half as frequent as the length before it."""
LASTING_MS = (500, 1_500)
"""The shortest and the longest duration of a fault that lasts, in milliseconds."""


class SoakOptions(Struct, frozen=True, kw_only=True):
    """The options of a soak.

    Args:
        backend: The backend's name.
        seconds: How long the producers send, in seconds.
        seed: The seed of the plan.
        rate: The number of messages that all producers together send per second.
        producers: The number of producer processes.
        consumers: The number of consumer processes.
        faults: The kinds of faults, in the order of the command line.
        gap_s: The mean time from one fault to the next, in seconds.
        defect: A defect of the reference broker or of its client; None for a soak without a defect.
    """

    backend: str
    seconds: float
    seed: int
    rate: int
    producers: int
    consumers: int
    faults: tuple[str, ...]
    gap_s: float
    defect: str | None = None


class PlannedFault(Struct, frozen=True, kw_only=True):
    """A fault of the plan.

    Args:
        id: The fault's id in the journals.
        kind: The kind of fault, such as ``kill``.
        at_ms: The milliseconds from the soak's start. The fault happens later, or not at all, if an earlier fault takes
            too long or too many slices are open.
        lasts_ms: How long the fault lasts, in milliseconds; 0 for a fault that ends by itself.
    """

    id: str
    kind: str
    at_ms: int
    lasts_ms: int = 0


class PlannedMessage(Struct, frozen=True, kw_only=True):
    """A message of the plan.

    Args:
        delay_ms: The delay in milliseconds; in a burst, the producer shortens the delay by the time since
            it began to send the burst.
        ttl_ms: The time to live in milliseconds; 0 for a message that never expires.
        mode: The delivery mode.
        priority: The priority, from 0 to 9.
        size: The length of the body in bytes.
    """

    delay_ms: int
    ttl_ms: int
    mode: Mode
    priority: int
    size: int


class Act(Struct, frozen=True, kw_only=True):
    """The messages that a producer sends together.

    Args:
        number: The number of the producer's act, from 1.
        at_ms: The milliseconds from the soak's start.
        slice: The number of the slice, from 1.
        workload: The workload's name.
        messages: The messages.
        commits: Whether the producer commits the unit of work; None for messages outside a unit of work.
    """

    number: int
    at_ms: int
    slice: int
    workload: str
    messages: tuple[PlannedMessage, ...]
    commits: bool | None = None


class PlannedProducer(Struct, frozen=True, kw_only=True):
    """The messages of one producer: their number, also by workload, and the SHA-256 digest of all acts in JSON."""

    name: str
    messages: int
    sha256: str
    by_workload: dict[str, int] = {}


class LeftOut(Struct, frozen=True):
    """A workload or fault that the soak leaves out, with the reason in one sentence."""

    what: str
    why: str


class Plan(Struct, frozen=True, kw_only=True):
    """The plan of a soak, as in ``plan.json``.

    Args:
        schema: The version of this format.
        options: The options.
        slices: The number of slices.
        slice_ms: The length of a slice in milliseconds.
        workloads: The names of the workloads.
        left_out: The workloads and faults that the soak leaves out.
        faults: The faults, in the order of time.
        producers: The producers with their numbers of messages; empty until the messages are counted.
    """

    schema: int
    options: SoakOptions
    slices: int
    slice_ms: float
    workloads: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    faults: tuple[PlannedFault, ...]
    producers: tuple[PlannedProducer, ...] = ()


def make_plan(
    options: SoakOptions, has: Collection[Capability], lacks: Mapping[Capability, str], kinds: Mapping[str, str]
) -> Plan:
    """Make the plan of a soak.

    Args:
        options: The options.
        has: The capabilities of the pair.
        lacks: The capabilities that the pair lacks, each with the reason.
        kinds: For each requested kind of fault that the pair cannot have, the reason; the plan leaves these kinds out.
    """
    able = [one for one in WORKLOADS if one.needs <= set(has)]
    left_out = [LeftOut(one.name, _lacking(one, has, lacks)) for one in WORKLOADS if one not in able]
    left_out += [LeftOut(kind, why) for kind, why in kinds.items()]
    slices = max(1, round(options.seconds * 1_000 / SLICE_MS))
    plan = Plan(
        schema=SCHEMA,
        options=options,
        slices=slices,
        slice_ms=options.seconds * 1_000 / slices,
        workloads=tuple(one.name for one in able),
        left_out=tuple(left_out),
        faults=_faults(options, [kind for kind in options.faults if kind not in kinds]),
    )
    return msgspec.structs.replace(plan, producers=tuple(_counted(plan, n) for n in range(1, options.producers + 1)))


def plan_json(plan: Plan) -> bytes:
    """Return the contents of ``plan.json``."""
    return msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n"


def producer_name(number: int) -> str:
    """Return the name of a producer and its journal; producers count from 1."""
    return f"producer-{number}"


def acts(plan: Plan, number: int) -> Iterator[Act]:
    """Compute the acts of a producer, in the order of time.

    Args:
        plan: The plan.
        number: The producer's number, from 1.
    """
    options = plan.options
    rng = random.Random(f"{options.seed}/producer/{number}")  # noqa: S311 - the load must be repeatable
    chosen = [one for one in WORKLOADS if one.name in plan.workloads]
    # A workload whose acts have several messages is chosen less often, so that its share of the messages is right.
    weights = [2 * one.share / sum(one.together) for one in chosen]
    each_ms = 1_000 * options.producers / options.rate
    at_ms, count = each_ms * rng.random(), 0
    while at_ms < options.seconds * 1_000 and chosen:
        count += 1
        (workload,) = rng.choices(chosen, weights)
        messages = _messages(workload, rng)
        commits = rng.random() * 100 >= ROLLBACK_PERCENT if workload.in_units else None
        in_slice = min(int(at_ms // plan.slice_ms) + 1, plan.slices)
        yield Act(
            number=count,
            at_ms=int(at_ms),
            slice=in_slice,
            workload=workload.name,
            messages=messages,
            commits=commits,
        )
        at_ms += each_ms * len(messages) * rng.uniform(0.5, 1.5)


def _messages(workload: Workload, rng: random.Random) -> tuple[PlannedMessage, ...]:
    due_ms = rng.randint(SOONEST_BURST_MS, LONGEST_MS)
    return tuple(_message(workload, rng, due_ms) for _ in range(rng.randint(*workload.together)))


def _message(workload: Workload, rng: random.Random, due_ms: int) -> PlannedMessage:
    delay_ms = due_ms if workload.delays is Delays.BURST else _delay(workload.delays, rng)
    ttl_ms = delay_ms or rng.randint(SHORTEST_LIFE_MS, LONGEST_MS)
    return PlannedMessage(
        delay_ms=delay_ms,
        ttl_ms=ttl_ms if workload.expires else 0,
        mode=Mode.PERSISTENT if rng.random() * 100 < workload.persistent_percent else Mode.NON_PERSISTENT,
        priority=rng.randint(0, 9),
        size=rng.choices(SIZES, [2**-place for place in range(len(SIZES))])[0],
    )


def _delay(delays: Delays, rng: random.Random) -> int:
    match delays:
        case Delays.UNIFORM:
            return rng.randint(SHORTEST_MS, LONGEST_MS)
        case Delays.EXPONENTIAL:
            return min(1 + int(rng.expovariate(1 / MEAN_MS)), LONGEST_MS)
        case Delays.SOME:
            return rng.choice((0, 0, rng.randint(SHORTEST_MS, LONGEST_MS)))
        case Delays.LONG:
            return rng.randint(LONGEST_MS * 2 // 3, LONGEST_MS)
        case Delays.SOME_LONG:
            return rng.choice((0, rng.randint(LONGEST_MS * 2 // 3, LONGEST_MS)))
        case _:
            return 0


def _counted(plan: Plan, number: int) -> PlannedProducer:
    digest, messages = hashlib.sha256(), Counter[str]()
    for act in acts(plan, number):
        digest.update(msgspec.json.encode(act))
        messages[act.workload] += len(act.messages)
    return PlannedProducer(
        name=producer_name(number), messages=messages.total(), sha256=digest.hexdigest(), by_workload=dict(messages)
    )


def _faults(options: SoakOptions, kinds: Sequence[str]) -> tuple[PlannedFault, ...]:
    rng = random.Random(f"{options.seed}/faults")  # noqa: S311 - the plan must be repeatable
    found: list[PlannedFault] = []
    gap_ms = options.gap_s * 1_000
    at_ms = gap_ms * rng.uniform(0.4, 0.8)
    turn: list[str] = []
    while kinds and at_ms < options.seconds * 1_000:
        if not turn:  # each kind occurs once before any kind recurs; each round has a new random order
            turn = rng.sample(kinds, len(kinds))
        kind = turn.pop()
        lasts_ms = rng.randint(*LASTING_MS)
        found.append(
            PlannedFault(
                id=f"fault-{len(found) + 1}",
                kind=kind,
                at_ms=int(at_ms),
                lasts_ms=lasts_ms if kind in LASTING else 0,
            )
        )
        at_ms += gap_ms * rng.uniform(0.7, 1.3)
    return tuple(found)


LASTING = frozenset({"pause", "slow"})
"""The kinds of faults that last until the soak ends them."""


def _lacking(workload: Workload, has: Collection[Capability], lacks: Mapping[Capability, str]) -> str:
    missing = sorted(workload.needs - set(has))
    reasons = [f"{one.value}: {lacks.get(one, 'the pair does not declare this capability.')}" for one in missing]
    return f"The pair lacks {' '.join(reasons)}"
