"""Tests of the words of the step vocabulary."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_adapters.ports.client import AckMode, Mode, Qos, Setting
from assay_sdk.model.durations import DurationError, format_duration
from assay_sdk.model.reasons import Mqrc
from assay_steps.words.choices import ChoiceError
from assay_steps.words.names import Place
from assay_steps.words.parsing import TYPES, phrase
from assay_steps.words.send_options import SendOptions
from assay_steps.words.subscription_terms import Terms, read_terms

LABELS = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)


def read(kind: str, text: str) -> Any:
    """Return the value to which a step converts a word."""
    step = phrase(f"<{{value:{kind}}}>")
    assert step.is_matching(f"<{text}>")
    return step.parse_arguments(f"<{text}>")["value"]


@given(st.integers(1, 10**9))
def test_a_duration_is_its_milliseconds_in_whatever_unit_it_is_written(milliseconds: int) -> None:
    assert read("Duration", format_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("text", "ms"),
    [("2 m", 120_000), ("10m", 600_000), ("1.5 s", 1_500), ("2 seconds", 2_000), ("1 day", 86_400_000), ("3s", 3_000)],
)
def test_a_duration_is_written_as_in_an_option_of_the_command(text: str, ms: int) -> None:
    assert read("Duration", text) == ms
    assert read("Options", f"a delivery delay of {text}").delay_ms == ms
    assert read("Terms", f"a subscription that lives for {text}").ttl_ms == ms
    assert read("Script", f"works {text} on each").take_ms == ms


@pytest.mark.parametrize("text", ["1", "s", "-1 s", "1 fortnight", "1.5 ms", "one s"])
def test_what_is_no_whole_duration_is_no_step(text: str) -> None:
    assert not phrase("<{value:Duration}>").is_matching(f"<{text}>")


@given(LABELS)
def test_a_name_is_what_stands_between_its_quotation_marks(label: str) -> None:
    assert read("Name", f'"{label}"') == label


@given(st.lists(LABELS, min_size=1, max_size=5))
def test_names_are_read_in_their_order(labels: list[str]) -> None:
    quoted = [f'"{label}"' for label in labels]
    text = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    assert read("Names", text) == tuple(labels)


@given(st.integers(0, 500), st.integers(0, 40))
def test_a_range_of_names_counts_from_its_first_to_its_last(first: int, more: int) -> None:
    names = read("Names", f'"m{first}" to "m{first + more}"')
    assert names == tuple(f"m{number}" for number in range(first, first + more + 1))


def test_a_range_without_numbers_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="needs numbers at the end"):
        TYPES["Names"]('"first" to "last"')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("the queue", Place("queue", "queue")),
        ("the topic", Place("topic", "topic")),
        ('queue "orders"', Place("queue", "orders")),
        ('topic "the queue"', Place("topic", "the queue")),
        ('queue "the topic"', Place("queue", "the topic")),
        ('alias "front"', Place("queue", "front")),
        ("the staging queue", Place("queue", "SYSTEM.DDELAY.LOCAL.QUEUE", "staging")),
        ("the base topic", Place("topic", "SYSTEM.BASE.TOPIC", "base")),
        ("the dead-letter queue", Place("queue", "dead-letter", "dead-letter")),
        ('the queue at queue manager "B"', Place("queue", "queue", member="B")),
        ('topic "news" at queue manager "QM1"', Place("topic", "news", member="QM1")),
        ("the queue of the subscription to the topic", Place("queue", "topic", "subscription")),
        (
            'the queue of the second subscription to topic "news" at queue manager "B"',
            Place("queue", "news", "subscription", "B", 2),
        ),
    ],
)
def test_a_place_has_a_kind_and_a_name(text: str, place: Place) -> None:
    assert read("Place", text) == place


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("quality of service at-most-once", Terms(qos=Qos.AT_MOST_ONCE)),
        ("a subscription that lives for 30 s", Terms(ttl_ms=30_000)),
        (
            'shared subscription "club", quality of service at-least-once and no automatic confirmation',
            Terms(share="club", qos=Qos.AT_LEAST_ONCE, auto_confirm=False),
        ),
        ("a durable subscription and a credit of 2", Terms(durable=True, credit=2)),
        ("automatic confirmation and a subscription that lives for 1 h", Terms(auto_confirm=True, ttl_ms=3_600_000)),
    ],
)
def test_a_subscriber_asks_for_terms(text: str, terms: Terms) -> None:
    assert read("Terms", text) == terms


def test_a_term_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ChoiceError, match=r"'a pony' is not a valid term of a subscriber; examples are quality of"):
        read_terms("a pony")


def test_a_term_that_is_almost_one_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(ChoiceError, match=r"did you mean 'a subscription that lives for 5 min'\?"):
        read_terms("a subscription living for 5 min")


@pytest.mark.parametrize("ack", AckMode)
def test_every_acknowledgement_mode_is_a_word(ack: AckMode) -> None:
    assert read("Ack", ack.value) is ack


@pytest.mark.parametrize("setting", Setting)
def test_every_setting_is_a_word(setting: Setting) -> None:
    assert read("Setting", setting.value) is setting


@pytest.mark.parametrize("mode", Mode)
def test_every_delivery_mode_is_a_word(mode: Mode) -> None:
    assert read("Mode", mode.value) is mode


@pytest.mark.parametrize("mqrc", Mqrc)
def test_every_reason_is_a_word_by_ibms_name(mqrc: Mqrc) -> None:
    assert read("Mqrc", f"MQRC_{mqrc.name}") is mqrc


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a delivery delay of 5 s", SendOptions(delay_ms=5000)),
        ("a time to live of 1 s", SendOptions(ttl_ms=1000)),
        ("a time to live of 1 s for this send only", SendOptions(send_ttl_ms=1000)),
        ("delivery mode non-persistent", SendOptions(mode=Mode.NON_PERSISTENT)),
        ("delivery mode persistent for this send only", SendOptions(send_mode=Mode.PERSISTENT)),
        ("its own delivery mode persistent", SendOptions(own_mode=Mode.PERSISTENT)),
        ("priority 9", SendOptions(priority=9)),
        ("priority 0 for this send only", SendOptions(send_priority=0)),
        ('property colour = "red"', SendOptions(properties={"colour": "red"})),
        ("property size = 7", SendOptions(properties={"size": 7})),
        ("delivery mode as the destination defines", SendOptions(mode=Mode.AS_DESTINATION)),
        ("priority as the destination defines", SendOptions(priority=-1)),
        ("a body of 4 KB", SendOptions(size=4096)),
        ("an empty body", SendOptions(size=0)),
        ("a binary body", SendOptions(binary=True)),
        ('reply-to queue "replies"', SendOptions(reply_to=Place("queue", "replies"))),
        ('correlation id "c"', SendOptions(correlation_id="c")),
        ('group "g", group sequence 2', SendOptions(group_id="g", group_sequence=2)),
        ("the last-in-group flag", SendOptions(properties={"JMS_IBM_Last_Msg_In_Group": True})),
        ("the retain option", SendOptions(properties={"JMS_IBM_Retain": 1})),
        (
            "report options MQRO_EXCEPTION_WITH_DATA and MQRO_DISCARD_MSG, priority 3",
            SendOptions(
                priority=3,
                properties={"JMS_IBM_Report_Exception": 0x3000000, "JMS_IBM_Report_Discard_Msg": 0x8000000},
            ),
        ),
        ("report option MQRO_ACTIVITY", SendOptions(properties={"JMS_IBM_MQMD_Report": 4})),
        ('property a = "b" and property c = 2', SendOptions(properties={"a": "b", "c": 2})),
        (
            "a delivery delay of 2 s, priority 1 and a time to live of 3 s",
            SendOptions(delay_ms=2000, priority=1, ttl_ms=3000),
        ),
    ],
)
def test_options_of_a_send_are_joined_by_commas_and_and(text: str, options: SendOptions) -> None:
    assert read("Options", text) == options


@pytest.mark.parametrize("other", ['property colour = "red"', "an empty body", "the retain option"])
def test_a_message_with_no_properties_has_a_body_and_no_property(other: str) -> None:
    with pytest.raises(ChoiceError, match=r"finds a message without properties by its body; leave out properties"):
        TYPES["Options"](f"no properties and {other}")


@pytest.mark.parametrize(
    "text", ["a delay of 5 s", "priority high", "MQRO_COA", "a body of 4", "a delivery delay of 5 s and wings"]
)
def test_an_option_that_does_not_exist_is_refused_with_those_that_do(text: str) -> None:
    with pytest.raises(ChoiceError, match=r"not a valid option of a send; .*[eE]xamples are a delivery delay of 2 s, "):
        TYPES["Options"](text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a delay of 90 s", "a delivery delay of 90 s"),
        ("delay of 2 s", "a delivery delay of 2 s"),
        ("a delivery delai of 1 h", "a delivery delay of 1 h"),
        ("time to live 5 s", "a time to live of 5 s"),
        ("priority 12", "priority 7"),
        ("body of 8 KB", "a body of 8 KB"),
        ('correlation-id "x y"', 'correlation id "x y"'),
    ],
)
def test_an_option_that_is_almost_one_is_refused_with_the_one_that_was_meant(text: str, meant: str) -> None:
    with pytest.raises(ChoiceError, match=re.escape(f"did you mean {meant!r}?")):
        TYPES["Options"](text)


def test_an_option_with_a_senseless_duration_is_refused() -> None:
    with pytest.raises(DurationError):
        TYPES["Options"]("a delivery delay of ages")


def test_places_are_read_in_their_order() -> None:
    assert read("Places", 'the staging queue, the queue and queue "b"') == (
        Place("queue", "SYSTEM.DDELAY.LOCAL.QUEUE", "staging"),
        Place("queue", "queue"),
        Place("queue", "b"),
    )


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("MAXDEPTH(1)", {"MAXDEPTH": 1}),
        ("PUT(DISABLED) DEFPRTY(7)", {"PUT": "DISABLED", "DEFPRTY": 7}),
        ("CUSTOM('ONUSE(NO)') DESCR('two words')", {"CUSTOM": "ONUSE(NO)", "DESCR": "two words"}),
        ("DEADQ(' ')", {"DEADQ": ""}),
    ],
)
def test_attributes_are_written_as_in_mqsc(text: str, attributes: dict[str, str | int]) -> None:
    assert read("Attributes", text) == attributes


def test_report_options_are_read_as_the_field_that_they_make() -> None:
    assert read("Report", "MQRO_COA, MQRO_COD and MQRO_NEW_MSG_ID") == 0x900
