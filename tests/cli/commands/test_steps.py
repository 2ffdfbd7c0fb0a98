"""Tests of ``assay steps``, which shows the vocabulary on the command line."""

from __future__ import annotations

from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_steps.words.handbook import handbook, plain


def test_without_a_word_every_step_is_listed_by_topic(assay: Assay) -> None:
    ended = assay("steps")
    assert ended.code is Exit.AS_EXPECTED
    lines = ended.out.splitlines()
    titles = [topic.title for topic in handbook().topics]
    assert [line for line in lines if line in titles] == titles
    phrases = [phrase for topic in handbook().topics for step in topic.steps for phrase in step.phrases]
    assert [line.strip() for line in lines if line.startswith(("  Given", "  When", "  Then"))] == phrases
    for one in handbook().options:
        assert plain(one.what) in ended.out


def test_words_choose_the_steps_that_speak_of_all_of_them(assay: Assay) -> None:
    shown = assay("steps", "browsing", "SHOWS").out
    assert "Then browsing {place:Place} shows {labels:Names}" in shown
    assert "e.g. browsing the queue shows" in shown
    assert "does not show" not in shown.replace("the staging queue does not show", "")


def test_a_word_finds_options_too(assay: Assay) -> None:
    assert "a delivery delay of 2 s" in assay("steps", "delivery", "delay").out


def test_a_word_that_nothing_speaks_of_is_a_sentence(assay: Assay) -> None:
    ended = assay("steps", "teleport")
    assert ended.code is Exit.USAGE
    assert ended.err.strip() == "assay: No step's text contains teleport: try fewer words, or none to list every step."
