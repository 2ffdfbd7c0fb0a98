"""Property tests of the predicates: neither lost evidence nor a delay turns another verdict into a pass or a fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evidence.histories import Memory, Story

from assay_evidence import events as ev
from assay_evidence.judge import judge_claim
from assay_evidence.verdicts import Verdict

KEYS = ("m", "n")
DELAY_MS = 300
NS_PER_MS = 1_000_000
CLAIMS = (
    "not-before",
    "by",
    "delivered-exactly",
    "delivered-at-most",
    "delivered-at-least",
    "never-seen",
    "redelivered",
    "in-order",
    "one-of",
    "all-or-nothing",
    "only-sent",
)
Move = tuple[int, str, str]
MOVES = st.lists(
    st.tuples(
        st.integers(0, 200),
        st.sampled_from(("watch", "unwatch", "see", "see again", "browse", "recover", "fault", "late")),
        st.sampled_from(KEYS),
    ),
    max_size=14,
)
SETTINGS = settings(max_examples=300)


def told(moves: Sequence[Move]) -> tuple[Story, ev.Call]:
    """Return a history with a delayed send of `m`, an undelayed send of `n` and these moves; and the send of `m`."""
    story = Story()
    open_watches: list[ev.Watch] = []
    send = story.send("m", delay_ms=DELAY_MS)
    story.send("n")
    for after_ms, move, key in moves:
        story.at(story.now_ns // NS_PER_MS + after_ms)
        match move:
            case "watch":
                open_watches.append(story.watch())
            case "unwatch":
                if open_watches:
                    story.unwatch(open_watches.pop())
            case "see":
                story.seen(key)
            case "see again":
                story.seen(key, redelivered=True)
            case "browse":
                story.browse(key)
            case "recover":
                story.asks("recover")
            case "fault":
                name = story.name("fault")
                story.fault("begin", name)
                story.fault("end", name)
            case _:
                held_ns = after_ms * NS_PER_MS
                story.tell(ev.Late, held_ns=held_ns, late_ns=held_ns)
    story.at(story.now_ns // NS_PER_MS + 1)
    return story, send


def claims_of(story: Story, send: ev.Call, quiet_ms: int = 100) -> list[ev.Claim]:
    """Return one claim of each predicate about the history."""
    of: dict[str, dict[str, str]] = {
        "not-before": {"kid": "m", "call": send.ref, "actors": "receiver"},
        "by": {"kid": "m", "call": send.ref, "actors": "receiver"},
        "in-order": {"kids": "n|m"},
        "one-of": {"option.seen": "seen m", "option.unseen": "unseen m", "actors": "receiver"},
        "all-or-nothing": {"kids": "m", "taken": "n", "after": send.ref},
        "only-sent": {"actors": "receiver"},
    }
    bounds = {"not-before": {"delay_ms": DELAY_MS}, "by": {"delay_ms": DELAY_MS, "limit_ms": 200}}
    quiet = {"quiet_ms": quiet_ms}
    made: list[ev.Claim] = []
    for name in CLAIMS:
        silent = {} if name in {"not-before", "by", "in-order", "only-sent"} else quiet
        references = of.get(name, {"kids": "m", "actors": "receiver"})
        made.append(story.claim(name, references, **bounds.get(name, {}), **silent))  # type: ignore[arg-type]  # bounds by name
    return made


def holds(
    claims: Sequence[ev.Claim], before: Sequence[ev.AnyEvent], after: Sequence[ev.AnyEvent], *verdicts: Verdict
) -> None:
    """Check that no claim gets one of these verdicts from the evidence `after` if `before` gave it another verdict."""
    for claim in claims:
        first, then = judge_claim(claim, before), judge_claim(claim, after)
        assert then.verdict not in verdicts or first.verdict is then.verdict, (claim.predicate, first, then)


@SETTINGS
@given(MOVES, st.data())
def test_without_one_of_its_watches_no_claim_passes_that_did_not(moves: list[Move], data: st.DataObject) -> None:
    story, send = told(moves)
    watches = sorted({event.id for event in story.events if isinstance(event, ev.Watch)})
    claims = claims_of(story, send)
    if watches:
        lost = data.draw(st.sampled_from(watches))
        rest = [event for event in story.events if not (isinstance(event, ev.Watch) and event.id == lost)]
        holds(claims, story.events, rest, Verdict.PASS)


@SETTINGS
@given(MOVES, st.integers(0, 2_000), st.integers(1, 2_000))
def test_a_delay_of_the_harness_makes_no_pass_and_no_fail(moves: list[Move], until_ms: int, held_ms: int) -> None:
    story, send = told(moves)
    claims = claims_of(story, send)
    other = Story(Memory("clock"))
    held_ns = held_ms * NS_PER_MS
    late = other.at(until_ms).tell(ev.Late, held_ns=held_ns, late_ns=held_ns)
    holds(claims, story.events, [*story.events, late], Verdict.PASS, Verdict.FAIL)


@SETTINGS
@given(MOVES, st.integers(1, 300), st.integers(0, 700))
def test_a_longer_silence_makes_no_pass_and_no_fail(moves: list[Move], quiet_ms: int, more_ms: int) -> None:
    story, send = told(moves)
    shorter = claims_of(story, send, quiet_ms)
    for claim, longer in zip(shorter, claims_of(story, send, quiet_ms + more_ms), strict=True):
        first, then = judge_claim(claim, story.events), judge_claim(longer, story.events)
        assert then.verdict not in {Verdict.PASS, Verdict.FAIL} or first.verdict is then.verdict, (first, then)


def adds(moves: list[Move], at_ms: int, act: Callable[[Story], object]) -> tuple[list[ev.Claim], list[ev.AnyEvent]]:
    """Return the claims, and the history with further events of another process."""
    story, send = told(moves)
    other = Story(Memory("other"))
    act(other.at(at_ms))
    story.at(max(story.now_ns // NS_PER_MS, at_ms + 1))
    return claims_of(story, send), [*story.events, *other.events]


@SETTINGS
@given(MOVES, st.integers(0, DELAY_MS - 1), st.booleans())
def test_whatever_else_happened_an_early_message_is_early(moves: list[Move], at_ms: int, looks: bool) -> None:
    claims, events = adds(moves, at_ms, lambda other: other.browse("m") if looks else other.seen("m"))
    finding = judge_claim(claims[CLAIMS.index("not-before")], events)
    assert (finding.verdict, finding.certain) == (Verdict.FAIL, True)


@SETTINGS
@given(MOVES, st.integers(0, 2_000))
def test_whatever_else_happened_a_message_that_came_twice_came_too_often(moves: list[Move], at_ms: int) -> None:
    claims, events = adds(moves, at_ms, lambda other: (other.seen("m"), other.seen("m")))
    for name in ("delivered-exactly", "delivered-at-most"):
        finding = judge_claim(claims[CLAIMS.index(name)], events)
        assert (finding.verdict, finding.certain) == (Verdict.FAIL, True)


@SETTINGS
@given(MOVES, st.integers(0, 2_000))
def test_whatever_else_happened_a_message_that_nobody_sent_was_not_sent(moves: list[Move], at_ms: int) -> None:
    claims, events = adds(moves, at_ms, lambda other: other.seen("invented"))
    assert judge_claim(claims[CLAIMS.index("only-sent")], events).verdict is Verdict.FAIL
