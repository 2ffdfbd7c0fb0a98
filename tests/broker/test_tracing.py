"""Tests of the traced frames of a wire in process."""

from __future__ import annotations

from tests.broker.defects.stories.qos import LINK, TOPIC, publish, subscribe
from tests.broker.defects.stories.story import Client, Log, Story

from assay_sdk import driver
from assay_sdk.driver import Outcome, Target
from assay_sdk.model.message import Message

Told = tuple[str, str, object, bool, bool | None]


def traced(story: Story, name: str) -> Client:
    line = Client(story, Target(url="in-process://ASSAY", client_id=name, trace=True), Log(story, name))
    line.submit(driver.OpenSession(line.token(), 1), driver.OpenSender(line.token(), 1, 2, TOPIC))
    return line


def told(client: Client) -> list[Told]:
    """Return the direction, body, outcome, settlement and role of each transfer and disposition in the trace."""
    found: list[Told] = []
    for frame in (event for event in client.events if isinstance(event, driver.Frame)):
        if frame.transfer is not None:
            found.append((frame.direction, str(frame.transfer.message.body), "transfer", frame.transfer.settled, None))
        found += [
            (frame.direction, str(one.message.body), one.outcome, one.settled, one.receiver)
            for one in frame.dispositions
        ]
    return found


def test_what_a_client_sends_is_answered_unless_it_is_sent_settled() -> None:
    sender = traced(Story(None), "sender")
    publish(sender, "once", settled=True)
    publish(sender, "sure")
    assert told(sender) == [
        ("out", "once", "transfer", True, None),
        ("out", "sure", "transfer", False, None),
        ("in", "sure", Outcome.ACCEPTED, True, True),
    ]


def test_what_a_client_sends_has_the_target_of_its_link() -> None:
    sender = traced(Story(None), "sender")
    publish(sender, "sure")
    out = [frame.transfer for frame in sender.events if isinstance(frame, driver.Frame) and frame.transfer is not None]
    assert [transfer.target for transfer in out] == [TOPIC.name]


def test_a_send_that_is_refused_is_rejected() -> None:
    sender = traced(Story(None), "sender")
    sender.submit(driver.Send(sender.token(), 2, Message(message_id="x", body="x", priority=10)))
    assert told(sender)[-1] == ("in", "x", Outcome.REJECTED, True, True)


def test_what_a_client_accepts_is_settled_by_the_answer() -> None:
    story = Story(None)
    reader, sender = traced(story, "reader"), traced(story, "sender")
    subscribe(reader, "club")
    publish(sender, "one")
    publish(sender, "two")
    reader.submit(driver.Settle(reader.token(), LINK, reader.held(LINK, 2)[1:], Outcome.ACCEPTED))
    assert told(reader) == [
        ("in", "one", "transfer", False, None),
        ("in", "two", "transfer", False, None),
        ("out", "two", Outcome.ACCEPTED, False, True),
        ("in", "two", Outcome.ACCEPTED, True, False),
    ]
    assert {
        frame.transfer.link for frame in reader.events if isinstance(frame, driver.Frame) and frame.transfer is not None
    } == {"private:club"}


def test_what_comes_at_most_once_comes_settled_and_an_unknown_delivery_is_not_settled() -> None:
    story = Story(None)
    reader, sender = traced(story, "reader"), traced(story, "sender")
    subscribe(reader, "club", settled=True)
    publish(sender, "one")
    reader.submit(driver.Settle(reader.token(), LINK, (77,), Outcome.ACCEPTED))
    assert told(reader) == [("in", "one", "transfer", True, None)]
