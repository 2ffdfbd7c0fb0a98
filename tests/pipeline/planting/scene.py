"""One scenario's raw lines as sends, receptions, watches, visits and faults.  Times are nanoseconds of one clock."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tests.pipeline.planting.raw import Position, Raw
from tests.pipeline.planting.views import FOREVER, LEAVING, MS, Reception, Send, Trouble, Visit, Watching


class Scene:
    """The lines of one scenario.

    Args:
        name: The scenario's id.
        lines: The lines, sorted by writer and number.
        position_at: Returns a writer's last line before a time (`Journals.position_at`).
    """

    def __init__(
        self, name: str, lines: Sequence[tuple[Position, Raw]], position_at: Callable[[str, str, int], Position]
    ) -> None:
        self.name = name
        self.boots = {raw["boot"] for _, raw in lines}
        self._position_at = position_at
        alone = len({position[0] for position, _ in lines}) == 1
        self.lines = _in_order(lines) if alone else lines
        self.raw: Mapping[Position, Raw] = dict(self.lines)
        self._times = [raw["mono_ns"] for _, raw in self.lines] if alone else []

    @cached_property
    def margin(self) -> int:
        """How far two times must lie apart, so that their order is sure: the lines of one writer have an order."""
        return MS if len({position[0] for position, _ in self.lines}) > 1 else 0

    def position_at(self, writer: str, at: int) -> Position:
        """Return a writer's last line before a time."""
        if self._times:
            return self.lines[max(bisect_right(self._times, at) - 1, 0)][0]
        return self._position_at(writer, next(iter(self.boots)), at)

    def of(self, *kinds: str) -> Iterator[tuple[Position, Raw]]:
        """Return the lines of these kinds."""
        return (one for one in self.lines if one[1]["kind"] in kinds)

    @cached_property
    def answers(self) -> Mapping[tuple[str, str], Raw]:
        return {(position[0], raw["call"]): raw for position, raw in self.of("return")}

    @cached_property
    def calls(self) -> list[tuple[Position, Raw, Raw | None]]:
        """All calls with their answers."""
        return [(position, raw, self.answers.get((position[0], raw["id"]))) for position, raw in self.of("call")]

    @cached_property
    def sends(self) -> list[Send]:
        """The sends of messages that the scenario sent once."""
        found = [one for one in self.calls if one[1]["op"] == "send" and "msg" in one[1]]
        times = Counter(raw["msg"]["kid"] for _, raw, _ in found)
        return [self._send(*one) for one in found if times[one[1]["msg"]["kid"]] == 1]

    def _send(self, position: Position, raw: Raw, answer: Raw | None) -> Send:
        unit, args = raw.get("unit"), raw.get("args", {})
        ending: Raw = {}
        asked: int | None = None
        if unit is not None:
            own = self._units.get((position[0], unit), [])
            ending = next((e for s, e in own if s > position[1] and e["op"] in ("begin", "commit", "rollback")), {})
            asked = self._commits.get((position[0], unit))
        return Send(
            position=position,
            key=raw["msg"]["kid"],
            actor=raw["actor"],
            destination=raw.get("destination") or "",
            mode=args.get("mode"),
            priority=args["priority"] if isinstance(args.get("priority"), int) else None,
            delay=_number(args.get("delay_ms")) * MS,
            ttl=_number(args.get("ttl_ms")) * MS,
            at=raw["mono_ns"],
            answered=answer["mono_ns"] if answer else None,
            accepted=answer is not None and answer.get("refused") is None,
            unit=unit,
            asked=asked,
            unit_ended=ending.get("mono_ns"),
            committed=ending.get("op") == "commit",
            rolled_back=ending.get("op") == "rollback",
            shown=answer.get("msg") if answer else None,
            body=raw["msg"]["sha256"],
            qos=self._qualities.get(raw["actor"]),
        )

    @cached_property
    def _qualities(self) -> Mapping[str, object]:
        """The quality of service of each MQ Light sender; other senders have none."""
        made = [raw for _, raw, _ in self.calls if raw["op"] == "producer"]
        return {raw["actor"]: raw["args"]["qos"] for raw in made if raw.get("args", {}).get("qos") is not None}

    @cached_property
    def _units(self) -> Mapping[tuple[str, str], list[tuple[int, Raw]]]:
        units: dict[tuple[str, str], list[tuple[int, Raw]]] = defaultdict(list)
        for position, raw in self.of("unit"):
            units[position[0], raw["unit"]].append((position[1], raw))
        return units

    @cached_property
    def _commits(self) -> Mapping[tuple[str, str], int]:
        calls = [(position, raw) for position, raw, _ in self.calls if raw["op"] == "commit" and raw.get("unit")]
        return {(position[0], raw["unit"]): raw["mono_ns"] for position, raw in reversed(calls)}

    @cached_property
    def visits(self) -> list[Visit]:
        """All consumers that a client created."""
        ids: dict[tuple[str, str], str] = {}
        modes: dict[tuple[str, str], object] = {}
        faces: set[tuple[str, str]] = set()
        numbers: Counter[str] = Counter()
        found: list[Visit] = []
        for position, raw, answer in self.calls:
            actor, args = (position[0], raw["actor"]), raw.get("args", {})
            if raw["op"] == "connect":
                ids[actor] = args.get("client_id") or ""
                if args.get("face") == "mqlight":
                    faces.add(actor)
            elif raw["op"] == "session":
                modes[actor] = args.get("ack")
            elif raw["op"] == "consumer" and (answer is None or answer.get("refused") is None):
                numbers[raw["actor"]] += 1
                if answer is not None:
                    light, number = actor in faces, numbers[raw["actor"]]
                    visit = _visit(
                        (position, raw, answer), ids.get(actor), modes.get(actor), light=light, number=number
                    )
                    found.append(visit)
        return found

    @cached_property
    def _of_actor(self) -> Mapping[tuple[str, str], list[Visit]]:
        found: dict[tuple[str, str], list[Visit]] = defaultdict(list)
        for visit in self.visits:
            found[visit.position[0], visit.actor].append(visit)
        return found

    def visit(self, position: Position, actor: str) -> Visit | None:
        """Return the consumer that an actor had created last before a line."""
        earlier = [one for one in self._of_actor.get((position[0], actor), []) if one.position[1] < position[1]]
        return earlier[-1] if earlier else None

    @cached_property
    def receptions(self) -> list[Reception]:
        return [
            Reception(
                position,
                raw["msg"]["kid"],
                raw["actor"],
                raw["link"],
                raw["destination"],
                raw["mono_ns"],
                bool(raw["redelivered"]) or raw["count"] > 1,
                raw.get("batch"),
                self.visit(position, raw["actor"]),
            )
            for position, raw in self.of("seen")
        ]

    @cached_property
    def of_key(self) -> Mapping[str, list[Reception]]:
        """The receptions of each message, sorted by time."""
        found: dict[str, list[Reception]] = defaultdict(list)
        for one in sorted(self.receptions, key=lambda one: one.at):
            found[one.key].append(one)
        return found

    def seen(self, send: Send) -> list[Reception]:
        """Return the receptions of a message, sorted by time."""
        return self.of_key.get(send.key, [])

    @cached_property
    def browsed(self) -> set[str]:
        """The keys that a browse listed."""
        return {key for _, raw in self.of("return") for key in raw.get("kids", ())}

    @cached_property
    def settles(self) -> Mapping[tuple[str, str, str], list[tuple[Position, Raw]]]:
        """The settlements of each message by actor and link."""
        found: dict[tuple[str, str, str], list[tuple[Position, Raw]]] = defaultdict(list)
        for position, raw in self.of("settle"):
            found[raw["actor"], raw["link"], raw["msg"]["kid"]].append((position, raw))
        return found

    def settled(self, one: Reception) -> tuple[Position, Raw] | None:
        """Return the first settlement of a reception's message on its link after it."""
        own = self.settles.get((one.actor, one.link, one.key), [])
        return next((pair for pair in own if pair[0][0] == one.position[0] and pair[0][1] > one.position[1]), None)

    @cached_property
    def _callbacks(self) -> Mapping[tuple[str, str], list[tuple[Position, Raw]]]:
        found: dict[tuple[str, str], list[tuple[Position, Raw]]] = defaultdict(list)
        for position, raw in self.of("callback"):
            found[position[0], raw["link"]].append((position, raw))
        return found

    def callback(self, one: Reception) -> tuple[Position, Raw] | None:
        """Return the end of the callback that got a reception's message, or its batch."""
        own = self._callbacks.get((one.position[0], one.link), [])
        return next((p for p in own if p[0][1] > one.position[1] and p[1].get("batch") == one.batch), None)

    @cached_property
    def watches(self) -> list[Watching]:
        """All watches that ended."""
        acts: dict[tuple[str, str], list[tuple[Position, Raw]]] = defaultdict(list)
        for position, raw in self.of("seen", "callback"):
            acts[position[0], raw["actor"]].append((position, raw))
        begun: dict[tuple[str, str], tuple[Position, Raw]] = {}
        found: list[Watching] = []
        for position, raw in self.of("watch"):
            if raw["phase"] == "begin":
                begun[position[0], raw["id"]] = position, raw
            elif (position[0], raw["id"]) in begun:
                start, first = begun[position[0], raw["id"]]
                own = [one for one in acts[position[0], raw["actor"]] if start[1] < one[0][1] < position[1]]
                last = own[-1][1] if own else first
                busy = last["kind"] == "seen" or last.get("ended") == "raised"
                found.append(
                    Watching(
                        start,
                        raw["actor"],
                        raw["destination"],
                        first["mono_ns"],
                        raw["mono_ns"],
                        last["mono_ns"],
                        not busy or (last["kind"] == "seen" and raw["actor"] not in self.listeners),
                        self.visit(start, raw["actor"]),
                    )
                )
        return found

    @cached_property
    def listeners(self) -> set[str]:
        return {raw["actor"] for _, raw, _ in self.calls if raw["op"] in ("listen", "listen-batch")}

    @cached_property
    def batchers(self) -> set[str]:
        return {raw["actor"] for _, raw, _ in self.calls if raw["op"] == "listen-batch"}

    @cached_property
    def faults(self) -> list[Trouble]:
        ends = {raw["id"]: raw["mono_ns"] for _, raw in self.of("fault") if raw["phase"] == "end"}
        return [
            Trouble(raw["what"], raw["mono_ns"], ends.get(raw["id"], FOREVER))
            for _, raw in self.of("fault")
            if raw["phase"] == "begin"
        ]

    @cached_property
    def aborts(self) -> list[Trouble]:
        """The calls with which clients dropped their connections."""
        return [
            Trouble("abort", raw["mono_ns"], answer["mono_ns"] if answer else FOREVER, raw["actor"])
            for _, raw, answer in self.calls
            if raw["op"] == "abort"
        ]

    @cached_property
    def leaves(self) -> list[Trouble]:
        """The orderly ends of consumers, sessions and connections."""
        return [
            Trouble(raw["op"], raw["mono_ns"], answer["mono_ns"], raw["actor"])
            for _, raw, answer in self.calls
            if raw["op"] in LEAVING and answer is not None and answer.get("refused") is None
        ]

    @cached_property
    def returns(self) -> list[int]:
        """The times after which a broker may deliver messages again."""
        ops = {*LEAVING, "abort", "recover", "unsubscribe"}
        found = [time for one in self.faults for time in (one.begin, one.end)]
        for _, raw, answer in self.calls:
            if raw["op"] in ops:
                found += [raw["mono_ns"], answer["mono_ns"] if answer else raw["mono_ns"]]
        for _, raw in self.of("callback", "unit", "settle", "session-ended"):
            given = raw.get("ended") == "raised" or raw.get("op") in ("rollback", "recover")
            if given or raw.get("outcome", "accepted") != "accepted" or raw["kind"] == "session-ended":
                found.append(raw["mono_ns"])
        return sorted(found)

    @cached_property
    def administered(self) -> bool:
        """Whether an administrator, or a client in an odd way, may have kept messages away from their consumers."""
        odd = any(not raw["command"].startswith("DEFINE") for _, raw in self.of("admin"))
        return odd or any(
            raw["op"] == "unsubscribe" or raw.get("args", {}).get("member") is not None for _, raw, _ in self.calls
        )


def _in_order(lines: Sequence[tuple[Position, Raw]]) -> list[tuple[Position, Raw]]:
    """Give the lines of one writer different times, in their order: in virtual time, many lines have the same time."""
    ordered: list[tuple[Position, Raw]] = []
    last = 0
    for position, raw in lines:
        last = max(raw["mono_ns"], last + 1)
        by = last - raw["mono_ns"]
        ordered.append((position, raw | {"mono_ns": last, "wall_ns": raw["wall_ns"] + by}))
    return ordered


def _visit(call: tuple[Position, Raw, Raw], client: str | None, mode: object, *, light: bool, number: int) -> Visit:
    position, raw, answer = call
    args: dict[str, Any] = raw.get("args", {})
    choosy = args.get("selector") is not None or args.get("no_local") is True
    qos, confirms, ack = args.get("qos"), args.get("auto_confirm"), args.get("ack", mode)
    by_itself = ack == "client" if confirms is None else confirms is False
    of_light = light or qos is not None or confirms is not None
    return Visit(
        position=position,
        actor=raw["actor"],
        destination=raw.get("destination") or "",
        at=raw["mono_ns"],
        opened=answer["mono_ns"],
        name=args.get("name"),
        client=client,
        number=number,
        durable=args.get("durability") == "durable" and (raw.get("destination") or "").startswith("topic://"),
        shared=args.get("shared") is True,
        choosy=choosy,
        careless=of_light and not (qos == "at-least-once" and by_itself),
        qos=qos,
        ttl=args.get("ttl_ms"),
        ack=ack,
        session=args.get("session"),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
