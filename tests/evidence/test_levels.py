"""Tests of the levels of evidence that a scenario's events show."""

from __future__ import annotations

import pytest
from tests.evidence.histories import Memory, Story

from assay_evidence import events as ev
from assay_evidence.levels import Level, in_words, levels_of, unreached


def story() -> Story:
    return Story(Memory(), "a::b", rule="PD-20")


def test_without_faults_and_looks_it_is_a_black_box() -> None:
    told = story()
    told.starts()
    told.ends()
    assert levels_of(told.sink.events) == (Level.BLACK_BOX,)


@pytest.mark.parametrize(
    ("what", "level"), [("kill", Level.KILL), ("restart", Level.RESTART), ("powerloss", Level.POWER_LOSS)]
)
def test_a_fault_is_a_level(what: str, level: Level) -> None:
    told = story()
    told.tell(ev.Fault, id="f", what=what, target="QM1", phase="begin")
    assert levels_of(told.sink.events) == (Level.BLACK_BOX, level)


def test_a_cut_connection_is_no_level() -> None:
    told = story()
    told.tell(ev.Fault, id="f", what="cut", target="QM1", phase="begin")
    assert levels_of(told.sink.events) == (Level.BLACK_BOX,)


def test_an_administrators_answer_counts_where_a_claim_rests_on_it() -> None:
    told = story()
    look = told.tell(ev.Admin, call="1", command="DISPLAY QLOCAL(Q)")
    assert Level.ADMINISTRATION not in levels_of(told.sink.events)
    told.tell(ev.Claim, rule="PD-20", predicate="in-range", of={"admin": look.ref})
    assert levels_of(told.sink.events) == (Level.BLACK_BOX, Level.ADMINISTRATION)


def test_a_claim_about_the_disk_saw_the_flush() -> None:
    told = story()
    told.tell(ev.Claim, rule="PD-20", predicate="flushed-before")
    assert levels_of(told.sink.events) == (Level.BLACK_BOX, Level.FLUSH)


@pytest.mark.parametrize(("capability", "levels"), [("flush-trace", (Level.FLUSH,)), ("selector", ())])
def test_what_the_pair_lacks_names_the_level_that_was_not_reached(capability: str, levels: tuple[Level, ...]) -> None:
    told = story()
    told.tell(ev.Unsupported, capability=capability, reason="It has none.")
    assert unreached(told.sink.events) == levels


@pytest.mark.parametrize(
    ("levels", "unseen", "words"),
    [
        ([Level.BLACK_BOX], [], "by clients alone"),
        ([Level.BLACK_BOX, Level.KILL, Level.RESTART], [Level.FLUSH], "by kill; flush not seen"),
        ([Level.BLACK_BOX, Level.FLUSH], [Level.FLUSH], "by flush"),
        ([], [Level.KILL], "kill not seen"),
    ],
)
def test_levels_in_words(levels: list[Level], unseen: list[Level], words: str) -> None:
    assert in_words(levels, unseen) == words
