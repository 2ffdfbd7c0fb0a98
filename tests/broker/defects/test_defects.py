from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages

import pytest
from tests.broker.defects.stories.administration import ADMINISTRATION_STORIES
from tests.broker.defects.stories.branches import BRANCH_STORIES
from tests.broker.defects.stories.combined_delays import COMBINED_DELAY_STORIES
from tests.broker.defects.stories.delays import DELAY_STORIES
from tests.broker.defects.stories.deliveries import DELIVERY_STORIES
from tests.broker.defects.stories.failures import FAILURE_STORIES
from tests.broker.defects.stories.lookalikes import LOOKALIKE_STORIES
from tests.broker.defects.stories.patterns import PATTERN_STORIES
from tests.broker.defects.stories.processor import PROCESSOR_STORIES
from tests.broker.defects.stories.qos import QOS_STORIES
from tests.broker.defects.stories.reopening import REOPENING_STORIES
from tests.broker.defects.stories.returning import RETURNING_STORIES
from tests.broker.defects.stories.second_sends import SECOND_SEND_STORIES
from tests.broker.defects.stories.sending import SENDING_STORIES
from tests.broker.defects.stories.staging import STAGING_STORIES
from tests.broker.defects.stories.story import Story

from assay_broker import defects
from assay_broker.core.refusals import RefusalError
from assay_broker.defects import DEFECTS, Defect
from assay_broker.defects.model import by_name
from assay_features import load_catalogue

pytestmark = pytest.mark.exhaustive

BROKER_RULES = {
    *("DD-02", "DD-03", "DD-04", "DD-27", "DD-48", "DD-51", "DD-55", "DD-56", "DD-57"),
    *(f"DD-{number}" for number in (*range(70, 78), 83, 85, 86)),
    *("DD-05", "DD-06", *(f"DD-{number}" for number in (30, 31, 32, 35, 36, 37, 38, 39, 50, 52, 80, 82))),
    *(f"DD-{number}" for number in (11, 16, 17, 19, 20, 21, 25, 26, 78)),
    *(f"DD-{number}" for number in (40, 41, *range(43, 48), *range(60, 66), 81, 84)),
    *(f"PD-{number}" for number in (*range(10, 19), *range(20, 35))),
    *("BT-08", "BT-09", "BT-12", "BT-13", "BT-16"),
    *(f"QS-{number:02}" for number in (3, 4, 6, 7, 8, 9, 10, 14, 20, 21, 22, *range(30, 35), 36)),
}

STORIES = (
    *DELAY_STORIES,
    *DELIVERY_STORIES,
    *BRANCH_STORIES,
    *FAILURE_STORIES,
    *ADMINISTRATION_STORIES,
    *SENDING_STORIES,
    *PROCESSOR_STORIES,
    *QOS_STORIES,
    *COMBINED_DELAY_STORIES,
    *STAGING_STORIES,
    *SECOND_SEND_STORIES,
    *RETURNING_STORIES,
    *LOOKALIKE_STORIES,
    *REOPENING_STORIES,
    *PATTERN_STORIES,
)


Seen = list[tuple[int, str, str]]


def told(tell: Callable[[Story], None], defect: Defect | None) -> Seen:
    """Return the events of one story, in order; its last event may be that the broker with the defect cannot start."""
    story = Story(defect)
    try:
        tell(story)
    except RefusalError as error:
        if defect is None:
            raise
        story.note("start", str(error))
    return story.seen


def tour(defect: Defect | None) -> list[Seen]:
    """Return the events of all stories."""
    return [told(tell, defect) for tell in STORIES]


UNBROKEN = tour(None)
LIKELIEST = list(zip(STORIES, UNBROKEN, strict=True))
"""The stories and what they show without a defect; those that showed the latest defects come first.

Few stories show most defects, so that the order saves most of the stories that show nothing.
"""


def test_the_tour_is_the_same_each_time() -> None:
    assert tour(None) == UNBROKEN


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_every_defect_shows_in_a_tour_of_everything_and_remembers_nothing(name: str) -> None:
    shown = (
        (place, seen)
        for place, (tell, unbroken) in enumerate(LIKELIEST)
        if (seen := told(tell, DEFECTS[name])) != unbroken
    )
    first = next(shown, None)
    assert first is not None, f"no story in tests/broker/defects/stories shows {name}: add one"
    place, seen = first
    LIKELIEST.insert(0, LIKELIEST.pop(place))
    tell, _ = LIKELIEST[0]
    assert told(tell, DEFECTS[name]) == seen


def test_every_rule_that_the_broker_is_judged_by_has_a_defect() -> None:
    known = {rule.id for rule in load_catalogue().rules}
    assert {rule for defect in DEFECTS.values() for rule in defect.rules} <= known
    covered = {rule for defect in DEFECTS.values() for rule in defect.rules}
    assert covered >= BROKER_RULES
    assert all(defect.text.endswith(".") for defect in DEFECTS.values())


def test_no_defect_is_left_out_of_the_list_of_its_module() -> None:
    modules = [import_module(found.name) for found in walk_packages(defects.__path__, "assay_broker.defects.")]
    declared = {one.name for module in modules for one in vars(module).values() if isinstance(one, Defect)}
    assert declared <= set(DEFECTS)


def test_two_defects_of_one_name_are_refused() -> None:
    first = next(iter(DEFECTS.values()))
    with pytest.raises(ValueError, match=f"two defects have the name {first.name}"):
        by_name((first, first))
