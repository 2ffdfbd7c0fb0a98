from __future__ import annotations

import pytest

from assay_adapters.ports.client import Script
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.parsing import phrase


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("fails in callback 2", Script(fail_at=2)),
        ("fails in callbacks 2 to 4", Script(fail_at=2, fail_times=3)),
        ("cannot decode a message in callback 2", Script(fail_at=2, undecodable=True)),
        ("works 2 s on each", Script(take_ms=2_000)),
        ("works 500 ms on each", Script(take_ms=500)),
        ("acknowledges each", Script(acknowledge_each=True)),
        ("commits as soon as 3 messages have come", Script(commit_after=3)),
        ("fails in callback 1 and works 1 s on each", Script(fail_at=1, take_ms=1_000)),
    ],
)
def test_what_a_listener_does_is_said_in_words(words: str, script: Script) -> None:
    assert phrase("it {script:Script}").parse_arguments(f"it {words}") == {"script": script}


@pytest.mark.parametrize("second", ["fails in callback 2", "cannot decode a message in callback 2"])
def test_two_actions_that_contradict_each_other_are_a_mistake(second: str) -> None:
    with pytest.raises(MistakeError, match="contradicts an earlier action"):
        phrase("it {script:Script}").parse_arguments(f"it fails in callback 1 and {second}")


@pytest.mark.parametrize("words", ["sleeps", "fails", "fails in callback 1 and sleeps", "works hard on each"])
def test_a_listener_does_nothing_that_there_is_no_word_for(words: str) -> None:
    assert not phrase("it {script:Script}").is_matching(f"it {words}")
