"""Runs the campaign in rounds: load with kills, then a drain (clients receive all remaining messages), then claims.

Each client writes its own journal; the journal of this process holds the plan, the kills and the claims.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import Struct

from assay.campaign.accounts import Accounts
from assay.campaign.claims import Claiming, claims, in_doubt
from assay.campaign.client import LAST, LEAVE, ClientOrder, Drain, Play, Resolve, Role
from assay.campaign.clients import Clients
from assay.campaign.families import LONGEST_DELAY_MS, SUBSCRIPTIONS, TRIALS, Family, place, planned, scenario_id
from assay.campaign.phases import Halt, Phase
from assay.campaign.server import BrokerOrder
from assay.campaign.supervisor import BrokerDownError, Supervisor
from assay_adapters.clients.sdk import identity
from assay_adapters.owners import folder_prefix
from assay_broker.inprocess import PRODUCT, product_version
from assay_evidence import events
from assay_evidence.events import AnyEvent, Event
from assay_evidence.lines import decode_line
from assay_evidence.writer import JournalWriter
from assay_features import load_catalogue
from assay_sdk.model.message import Address
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.journal import instant
from assay_steps.plugin.folder import JOURNALS
from assay_steps.plugin.run import MAIN, new_run_id

E = TypeVar("E", bound=Event)

BACKEND = "reference+local"
"""The pair's name in journals: the reference broker in its own process, reached over a Unix socket."""

PLACED = (Phase.WRITTEN, Phase.WRITTEN, Phase.FLUSHED, Phase.FLUSHED, Phase.BEFORE_WRITE, Phase.ANSWERED)
"""The phases of a write at which a planned kill may happen; a phase named twice is chosen twice as often."""
PLACED_AT_COMMIT = (Phase.WRITTEN, Phase.FLUSHED, Phase.FLUSHED)
"""The phases for planned kills during a commit.  After such a kill, the disk may hold a part of the unit of work."""
PLACED_PERCENT = 65
TIMES = (5, 60)
"""A planned kill happens when the broker reaches the chosen phase for the n-th time; n lies between these numbers."""
SPAN_S = (0.0, 0.3)
"""The smallest and the largest number of seconds from the end of `UP_S` to a random kill."""
COMMITS_PERCENT = 40
"""The percentage of planned kills that happen during a commit."""
COMMITS_RARER = 10
"""For a kill during a commit, the numbers of `TIMES` are divided by this number, because commits are rare."""
UP_S = 0.1
"""The broker runs for at least this many seconds between two kills, so that receivers can get delayed messages."""
HALT_LIMIT_S = 3.0

CALM_MS = 200
"""The time for which the clients continue to receive after the longest delay is over, in milliseconds."""

ROLES = (Role.MIXED, Role.MIXED, Role.WATCHER, Role.SUBSCRIBER)


class CampaignOptions(Struct, frozen=True, kw_only=True):
    """The options of a campaign.

    Args:
        out: The folder of evidence, with an empty folder for journals.
        kills: The number of kills.
        kills_a_round: The largest number of kills in a round.
        seed: The seed of all random choices.
        store: The broker's store.
        defect: The defect to plant in the store; None for a store without a defect.
        gap_ms: The longest pause between two acts of a client, in milliseconds.
    """

    out: Path
    kills: int
    kills_a_round: int = 6
    seed: int = 0
    store: str = "sqlite"
    defect: str | None = None
    gap_ms: int = 12


class Tally(Struct, frozen=True, kw_only=True):
    """The figures of a campaign.

    Args:
        kills: The number of kills, by phase.
        messages: The number of messages sent, by family.
        fates: The number of messages by family and fate, and the number of units of work by fate.
        start_ms: How long each start of the broker took, in milliseconds.
        down: The reason why the campaign ended early; empty if it ran to its end.
    """

    kills: dict[Phase, int]
    messages: dict[Family, int]
    fates: dict[str, int]
    start_ms: list[float]
    down: str


class Campaign:
    """A campaign, as a context manager that ends all its processes.

    Args:
        options: The options of the campaign.
        told: Called after each kill, with the number of kills so far.
    """

    def __init__(self, options: CampaignOptions, told: Callable[[int], None] = lambda _: None) -> None:
        self._options = options
        self._told = told
        self._run = new_run_id()
        self._clock = MachineClock()
        self._rng = random.Random(options.seed)  # noqa: S311 - the load must be repeatable
        self._folder = tempfile.TemporaryDirectory(prefix=folder_prefix("crash"))
        self._journal = JournalWriter(self._path(MAIN), run=self._run, writer=MAIN)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["__main__", "assay.campaign.client", "assay.campaign.server"])
        order = BrokerOrder(folder=Path(self._folder.name), store=options.store, defect=options.defect)
        self._supervisor = Supervisor(order, context, self._clock)
        self._order = order
        self._context: ForkServerContext = context
        self._clients: Clients | None = None
        self._kills = 0
        self._messages: Counter[Family] = Counter()
        self._fates: Counter[str] = Counter()
        self._read: dict[str, int] = {}
        self._own: dict[str, list[AnyEvent]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._clients is not None:
            self._clients.abandon()
        self._supervisor.abandon()
        self._folder.cleanup()

    def run(self) -> Tally:
        """Run all rounds, and close the journals.

        Raises:
            ClientDownError: A client's process failed.
        """
        options = self._options
        rounds = -(-options.kills // options.kills_a_round)
        begin = self._begin()
        self._write(events.Begin, **begin)
        self._write(events.Plan, scenarios=tuple(planned(f, n) for n in range(1, rounds + 1) for f in Family))
        self._clients = clients = Clients(self._orders(begin), self._context)
        down = ""
        try:
            self._supervisor.start()
            for number in range(1, rounds + 1):
                self._round(number, clients)
            self._supervisor.stop()
        except BrokerDownError as error:
            down = str(error)
            clients.tell(LEAVE)
        clients.end()
        names = (*clients.names, MAIN)
        self._journal.close(instant(self._clock), writers=names)
        return Tally(
            kills={phase: self._supervisor.kills[phase] for phase in Phase},
            messages=dict(self._messages),
            fates=dict(self._fates),
            start_ms=[ns / 1e6 for ns in self._supervisor.start_ns],
            down=down,
        )

    # rounds -----------------------------------------------------------------------------------------------------------

    def _round(self, number: int, clients: Clients) -> None:
        """Run a round: load and kills, a drain, and the claims."""
        begun_ns = self._clock.monotonic_ns()
        for family in Family:
            trial = TRIALS[family]
            fields = {"rules": trial.rules, "judged": trial.judged, "strength": trial.strength}
            self._write(events.ScenarioBegin, scenario=scenario_id(family, number), **fields)
        try:
            self._suffer(number, clients)
        except BrokerDownError as error:
            self._refused(number, str(error))
            raise
        finally:
            elapsed_ns = self._clock.monotonic_ns() - begun_ns
            for family in Family:
                scenario = scenario_id(family, number)
                self._write(events.ScenarioEnd, scenario=scenario, elapsed_ns=elapsed_ns, waited_ns=0)

    def _suffer(self, number: int, clients: Clients) -> None:
        # The subscriptions must exist before the first publication.
        clients.tell(Play(number), (Role.SUBSCRIBER, Role.WATCHER))
        clients.tell(Play(number), (Role.MIXED,))
        options = self._options
        for _ in range(min(options.kills_a_round, options.kills - self._kills)):
            self._kill(number)
        self._pass(UP_S)
        clients.tell(LAST)
        self._drain(number, clients)
        written = self._written(number)
        self._claim_all(number, Family.BRANCHES, in_doubt(Accounts(written[scenario_id(Family.BRANCHES, number)])))
        clients.tell(Resolve(), (Role.MIXED,))
        self._drain_branches(number, clients)
        self._claim(number, written)

    def _kill(self, number: int) -> None:
        """Kill the broker at a planned phase of a write or at a random moment, and start it again."""
        self._pass(UP_S)
        if self._rng.random() * 100 < PLACED_PERCENT:
            commits = self._rng.random() * 100 < COMMITS_PERCENT
            times = self._rng.randint(*TIMES) // (COMMITS_RARER if commits else 1)
            self._supervisor.arm(
                Halt(self._rng.choice(PLACED_AT_COMMIT if commits else PLACED), max(times, 1), commits)
            )
            self._supervisor.await_halt(HALT_LIMIT_S)
        else:
            self._pass(self._rng.uniform(*SPAN_S))
        self._kills += 1
        fault = {"id": f"kill-{self._kills}", "what": "kill", "target": "broker"}
        self._everywhere(number, events.Fault, phase="begin", **fault)
        phase = self._supervisor.kill()
        self._supervisor.start()
        self._everywhere(number, events.Fault, phase="end", **fault)
        text = f"the broker's process was killed: {phase.words}"
        self._everywhere(number, events.Step, keyword="When", text=text, outcome="done")
        self._told(self._kills)

    def _pass(self, seconds: float) -> None:
        """Wait for a time, and check that the broker's process keeps running.

        Raises:
            BrokerDownError: The broker's process failed.
        """
        self._supervisor.await_halt(seconds)

    def _drain(self, number: int, clients: Clients) -> None:
        calm_ns = self._clock.monotonic_ns() + (LONGEST_DELAY_MS + CALM_MS) * NS_PER_MS
        parts: list[tuple[tuple[tuple[Family, Address], ...], tuple[str, ...]]] = [
            (((Family.QUEUE, place(Family.QUEUE, number)), (Family.PASSING, place(Family.PASSING, number))), ()),
            (tuple((Family.UNITS, place(Family.UNITS, number, end)) for end in ("IN", "OUT")), ()),
            (
                (
                    (Family.DELAYED, place(Family.DELAYED, number)),
                    *((Family.BRANCHES, place(Family.BRANCHES, number, end)) for end in ("IN", "OUT")),
                ),
                (),
            ),
            ((), SUBSCRIPTIONS),
        ]
        clients.each([Drain(queues, subscriptions, calm_ns) for queues, subscriptions in parts])

    def _drain_branches(self, number: int, clients: Clients) -> None:
        """Receive the messages that became available when the transaction managers decided the last branches."""
        queues = tuple((Family.BRANCHES, place(Family.BRANCHES, number, end)) for end in ("IN", "OUT"))
        calm_ns = self._clock.monotonic_ns()
        clients.each([Drain(queues if order == 0 else (), (), calm_ns) for order in range(len(ROLES))])

    def _claim(self, number: int, written: dict[str, list[AnyEvent]]) -> None:
        """Write the claims about the round's messages, family by family."""
        for name, more in self._written(number).items():
            written[name] += more
        for family in Family:
            accounts = Accounts(written[scenario_id(family, number)])
            self._messages[family] += len(accounts.sendings)
            self._fates.update(f"{family}: {sending.fate.value}" for sending in accounts.sendings)
            self._fates.update(f"unit of work: {unit.fate.value}" for unit in accounts.units.values())
            self._claim_all(number, family, claims(family, accounts))

    def _claim_all(self, number: int, family: Family, claimings: Iterable[Claiming]) -> None:
        for claiming in claimings:
            fields = {"rule": claiming.rule, "predicate": claiming.predicate, "text": claiming.text}
            scenario = scenario_id(family, number)
            self._write(events.Claim, scenario=scenario, of=claiming.of, bounds=claiming.bounds, **fields)

    def _refused(self, number: int, why: str) -> None:
        """Write the claim that the broker starts after a kill; the claim fails, because the broker's process failed."""
        scenario = scenario_id(Family.QUEUE, number)
        call = self._write(
            events.Call, scenario=scenario, id=f"{scenario}#start", actor="broker", op="start the broker"
        )
        info = events.RefusedInfo(kind="messaging", checked=False, text=why)
        self._write(events.Return, scenario=scenario, call=call.id, refused=info)
        self._write(
            events.Claim,
            scenario=scenario,
            rule=TRIALS[Family.QUEUE].rules[0],
            predicate="accepted",
            of={"call": call.ref},
            bounds={},
            text="a broker that was killed can be started again",
        )

    # journals ---------------------------------------------------------------------------------------------------------

    def _written(self, number: int) -> dict[str, list[AnyEvent]]:
        """Read the new events of the clients' journals, and add the kills; return them by scenario."""
        found: dict[str, list[AnyEvent]] = {
            name: self._own.pop(name, []) for name in (scenario_id(family, number) for family in Family)
        }
        for order in self._orders({}):
            with self._path(order.name).open("rb") as file:
                file.seek(self._read.get(order.name, 0))
                for line in file:
                    event = decode_line(line.removesuffix(b"\n"))
                    if event.scenario in found:
                        found[event.scenario].append(event)
                self._read[order.name] = file.tell()
        return found

    def _begin(self) -> dict[str, Any]:
        """Return the fields of the first event of every journal of the run."""
        client = identity("simplified")
        details = {"store": self._options.store, "clock": "real", "kills": str(self._options.kills)}
        return {
            "backend": BACKEND,
            "client": f"{client.name} {client.version} ({client.face})",
            "ours": ("client", "broker"),
            "environment": {"product": PRODUCT, "version": product_version(), **details},
            "catalogue_hash": load_catalogue().sha256,
            "seed": self._options.seed,
            "defect": self._options.defect or "",
        }

    def _orders(self, begin: dict[str, Any]) -> list[ClientOrder]:
        return [
            ClientOrder(
                name=f"client-{index}",
                role=role,
                run=self._run,
                journals=self._options.out / JOURNALS,
                url=f"local://{self._order.socket}",
                begin=begin,
                seed=self._options.seed,
                gap_ms=self._options.gap_ms,
            )
            for index, role in enumerate(ROLES, start=1)
        ]

    def _path(self, writer: str) -> Path:
        return self._options.out / JOURNALS / f"{writer}.jsonl"

    def _everywhere(self, number: int, kind: type[events.Fault | events.Step], **fields: Any) -> None:
        """Write an event for the scenario of each family."""
        at = instant(self._clock)
        for family in Family:
            event = self._journal.write(kind, at, scenario=scenario_id(family, number), **fields)
            self._own.setdefault(scenario_id(family, number), []).append(event)

    def _write(self, kind: type[E], *, scenario: str | None = None, **fields: Any) -> E:
        return self._journal.write(kind, instant(self._clock), scenario=scenario, **fields)
