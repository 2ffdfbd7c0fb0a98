from __future__ import annotations

from enum import Enum, auto

import pytest

from assay_sdk.model.stepper import ImpossibleError, Stepper, words


class Door(Enum):
    OPEN = auto()
    SHUT_FOR_GOOD = auto()


class Push(Enum):
    PUSH = auto()
    LOCK_UP = auto()


class Sound(Enum):
    CREAK = auto()
    NOTHING = auto()


TABLE = {
    (Door.OPEN, Push.PUSH): (Door.SHUT_FOR_GOOD, Sound.CREAK),
    (Door.SHUT_FOR_GOOD, Push.PUSH): (Door.SHUT_FOR_GOOD, Sound.NOTHING),
}


def test_a_step_goes_to_the_next_state_and_says_what_to_do() -> None:
    door = Stepper(TABLE, Door.OPEN)
    assert (door.step(Push.PUSH), door.state) == (Sound.CREAK, Door.SHUT_FOR_GOOD)
    assert (door.step(Push.PUSH), door.state) == (Sound.NOTHING, Door.SHUT_FOR_GOOD)


def test_a_pair_that_the_table_lacks_raises_and_changes_nothing() -> None:
    door = Stepper(TABLE, Door.SHUT_FOR_GOOD)
    assert door.knows(Push.PUSH)
    assert not door.knows(Push.LOCK_UP)
    with pytest.raises(ImpossibleError, match="Stepper is shut for good, and its table has no row for lock up"):
        door.step(Push.LOCK_UP)
    assert door.state is Door.SHUT_FOR_GOOD


def test_an_owner_says_which_error_an_impossible_pair_is() -> None:
    class Gate(Stepper[Door, Push, Sound]):
        def impossible(self, happened: Push) -> Exception:
            return PermissionError(words(happened))

    with pytest.raises(PermissionError, match="lock up"):
        Gate(TABLE, Door.OPEN).step(Push.LOCK_UP)
