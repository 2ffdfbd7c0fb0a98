"""Tests of report options and feedback codes by IBM MQ's names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.core.messages import reports
from assay_sdk.model.report_options import Mqro
from assay_steps.words.descriptor import DEFAULT_OPTIONS, feedback, report_of, report_properties

NAMES = [f"MQRO_{name}" for name in (*Mqro.__members__, *DEFAULT_OPTIONS)]


@pytest.mark.parametrize("option", reports.Mqro)
def test_steps_and_broker_mean_the_same_number(option: reports.Mqro) -> None:
    assert int(Mqro[str(option.name)]) == int(option)


@given(st.lists(st.sampled_from(NAMES), max_size=5))
def test_what_the_properties_ask_for_is_the_report_field(names: list[str]) -> None:
    asked = report_properties(names)
    kinds = {name.partition("_WITH")[0] for name in names}
    if len(kinds) == len(set(names)):  # two options of one kind are refused by the broker
        total = 0
        for value in asked.values():
            total |= value
        assert total == report_of(names)


def test_an_option_without_a_property_of_its_own_takes_the_whole_field() -> None:
    assert report_properties(["MQRO_ACTIVITY", "MQRO_COA"]) == {"JMS_IBM_MQMD_Report": 0x104}
    assert report_properties(["MQRO_COA"]) == {"JMS_IBM_Report_COA": 0x100}
    assert report_properties(["MQRO_DEAD_LETTER_Q"]) == {}


def test_an_option_that_there_is_none_of_is_said() -> None:
    with pytest.raises(ValueError, match="MQRO_WINGS is no report option"):
        report_of(["MQRO_WINGS"])


@pytest.mark.parametrize(("name", "number"), [("MQRC_Q_FULL", 2053), ("MQFB_EXPIRATION", 258), ("MQFB_COA", 259)])
def test_a_feedback_is_a_reason_or_one_of_mqs_own(name: str, number: int) -> None:
    assert feedback(name) == number


@pytest.mark.parametrize("name", ["MQRC_WINGS", "MQFB_WINGS"])
def test_a_feedback_that_there_is_none_of_is_said(name: str) -> None:
    with pytest.raises(LookupError, match=f"there is no feedback {name}"):
        feedback(name)
