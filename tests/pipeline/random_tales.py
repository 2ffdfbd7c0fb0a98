"""Histories nobody thought of: random scenarios over a few messages, consumers and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from tests.evidence.histories import QUEUE
from tests.pipeline.tales import TOPIC, Tale, Telling

KIDS, ACTORS, PLACES = ("k1", "k2", "k3"), ("a", "b"), (QUEUE, TOPIC)
Act = Callable[[Tale, dict[str, Any]], None]


@st.composite
def _send(draw: st.DrawFn, place: str) -> Act:
    kid, mode = draw(st.sampled_from(KIDS)), draw(st.sampled_from(("persistent", "persistent", "non-persistent")))
    delay, ttl = draw(st.sampled_from((0, 0, 500))), draw(st.sampled_from((0, 0, 0, 800)))
    unit = draw(st.sampled_from((None, None, None, "u")))
    refused, answered = draw(st.integers(0, 9)) == 0, draw(st.integers(0, 9)) > 0

    def act(tale: Tale, _state: dict[str, Any]) -> None:
        tale.sends(kid, place, mode=mode, delay_ms=delay, ttl_ms=ttl, unit=unit, refused=refused, answered=answered)

    return act


@st.composite
def _come(draw: st.DrawFn, place: str) -> Act:
    actor = draw(st.sampled_from(ACTORS))
    name, shared = draw(st.sampled_from((None, None, "s"))), draw(st.integers(0, 4)) == 0
    selector = "x" if draw(st.integers(0, 9)) == 0 else None
    size = draw(st.sampled_from((None, None, None, 1, 2)))

    def act(tale: Tale, state: dict[str, Any]) -> None:
        tale.consumes(actor, place, selector=selector, name=name, shared=shared)
        state.setdefault("watches", []).append((tale.listens(actor, place, size=size), actor, place))

    return act


@st.composite
def _see(draw: st.DrawFn, _place: str) -> Act:
    kid, actor = draw(st.sampled_from(KIDS)), draw(st.sampled_from(ACTORS))
    batch, back = (
        draw(st.sampled_from((None, None, 0, 1))),
        draw(st.sampled_from(("returned", "returned", "raised", ""))),
    )

    def act(tale: Tale, _state: dict[str, Any]) -> None:
        tale.handed(kid, actor, batch)
        if back in {"returned", "raised"}:
            tale.returns(actor, batch, "raised" if back == "raised" else "returned")

    return act


@st.composite
def _stop(draw: st.DrawFn, _place: str) -> Act:
    which = draw(st.integers(0, 3))

    def act(tale: Tale, state: dict[str, Any]) -> None:
        watches = state.get("watches", [])
        if watches:
            tale.stops(*watches.pop(which % len(watches)))

    return act


@st.composite
def _other(draw: st.DrawFn, place: str) -> Act:
    kind = draw(st.sampled_from(("kill", "restart", "cut", "browse", "commit", "rollback", "begin", "boot")))
    kids = draw(st.lists(st.sampled_from(KIDS), max_size=2, unique=True))

    def act(tale: Tale, _state: dict[str, Any]) -> None:
        if kind in {"kill", "restart", "cut"}:
            tale.suffers(kind, took_ms=draw_took)
        elif kind == "browse":
            tale.browses(*kids, of=place)
        elif kind == "boot":
            tale.boot += "'"
        elif kind in {"commit", "rollback", "begin"}:
            tale.ends_unit("u", kind)  # type: ignore[arg-type]  # one of the three

    draw_took = draw(st.sampled_from((0, 10)))
    return act


@st.composite
def tellings(draw: st.DrawFn) -> Telling:
    """A scenario on one queue or topic."""
    place = draw(st.sampled_from(PLACES))
    step = st.one_of(_send(place), _send(place), _come(place), _come(place), _see(place), _stop(place), _other(place))
    acts = draw(st.lists(st.tuples(st.sampled_from((0, 0, 1, 250, 500, 1_500)), step), min_size=3, max_size=12))
    unc_ns = draw(st.sampled_from((0, 0, 2_000_000)))

    def tell(tale: Tale) -> None:
        tale.unc_ns = unc_ns
        state: dict[str, Any] = {}
        for wait_ms, act in acts:
            tale.now_ns += wait_ms * 1_000_000
            act(tale, state)
        tale.now_ns += 1_500_000_000
        for watch in state.get("watches", []):
            tale.stops(*watch)

    return tell
