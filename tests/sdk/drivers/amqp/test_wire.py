"""One connection against a scripted peer: opening, links, transfers, settlements, and how they end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from proton import Condition, Delivery, Described, Terminus, symbol, ulong
from tests.sdk.drivers.amqp.peer import Bench, bench, settle

from assay_sdk.amqp import codec
from assay_sdk.driver import (
    Arrived,
    Begin,
    Browse,
    Cancel,
    Close,
    Closed,
    CloseLink,
    CloseSession,
    Commit,
    CommitXa,
    Credit,
    Done,
    Drain,
    Drained,
    Durability,
    EndXa,
    Enlist,
    Failed,
    ForgetXa,
    Frame,
    LinkClosed,
    Login,
    Opened,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Outcome,
    Prepare,
    RecoverXa,
    Rollback,
    RollbackXa,
    Send,
    Settle,
    Unsubscribe,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc
from assay_sdk.model.xa import XaEnd

QUEUE = Address(AddressKind.QUEUE, "Q")
TOPIC = Address(AddressKind.TOPIC, "T")
HELLO = Message(body="hello", durable=True)


@pytest.fixture
def opened() -> Iterator[Bench]:
    with bench(offered=("DELAYED_DELIVERY", "SHARED-SUBS")) as made:
        assert isinstance(made.connect(), Opened)
        made.done(OpenSession, 1)
        yield made


def deliver(made: Bench, count: int = 1, *, drained: bool = False, settled: bool = False) -> None:
    """Let the peer send as far as there is credit."""
    link = made.peer.sent_to
    octets = codec.encode(HELLO)

    def job() -> None:
        for number in range(count):
            delivery = link.delivery(f"{made.peer.events.count('DELIVERED')}-{number}")
            link.stream(octets)
            link.advance()
            if settled:
                delivery.settle()
        if drained:
            link.drained()
        made.peer.events.append("DELIVERED")

    made.peer.do(job)


def receiver(made: Bench, *, credit: int = 10, **options: Any) -> None:
    """A receiver with number 2."""

    def accept(link: Any) -> None:
        made.peer.accept_link(link)
        made.peer.sent_to = link

    made.peer.handlers["LINK_REMOTE_OPEN"] = accept
    made.done(OpenReceiver, session=1, link=2, **({"address": QUEUE} | options))
    if credit:
        made.done(Credit, 2, credit)


# --- opening


def test_an_open_tells_capabilities_and_what_the_peer_says_of_itself() -> None:
    with bench(offered=("DELAYED_DELIVERY",), properties={"product": "peer", "n": 3, "yes": True}) as made:
        opened = made.connect()
        assert isinstance(opened, Opened)
        assert Capability.DELIVERY_DELAY in opened.capabilities
        assert Capability.SHARED_SUBSCRIPTION not in opened.capabilities
        assert opened.properties == {"product": "peer", "n": 3, "yes": True}
        assert made.wire is not None
        assert made.wire.capabilities == opened.capabilities


def test_the_client_id_is_the_container_id_and_the_sole_connection_is_desired() -> None:
    with bench() as made:
        made.connect(client_id="billing")
        assert made.peer.connection.remote_container == "billing"
        desired = [str(name) for name in made.peer.connection.remote_desired_capabilities]
        assert "sole-connection-for-container" in desired


def test_a_refused_login_is_a_security_error_and_names_no_password() -> None:
    with bench(sasl_outcome=1) as made:
        closed = made.connect(login=Login("me", "secret"), trace=True)
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.SECURITY
        assert closed.refused.mqrc == Mqrc.NOT_AUTHORIZED
        assert "secret" not in repr(made.said)
        assert b"\0me\0secret" in made.peer.initial[0]


def test_a_client_id_in_use_is_an_invalid_client_id() -> None:
    with bench(properties={"amqp:connection-establishment-failed": True}) as made:

        def refuse(connection: Any) -> None:
            made.peer._accept_connection(connection)
            info = {symbol("invalid-field"): symbol("container-id")}
            connection.condition = Condition("amqp:invalid-field", "in use", info)
            connection.close()

        made.peer.handlers["CONNECTION_REMOTE_OPEN"] = refuse
        closed = made.connect(client_id="twice")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.INVALID_CLIENT_ID
        assert closed.refused.objects == ("twice",)


def test_a_silent_broker_ends_the_attempt_at_its_time_limit() -> None:
    with bench() as made:
        made.peer.silent = True
        closed = made.connect(open_timeout_ms=50)
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "50 ms" in closed.refused.text


def test_nobody_at_the_address_is_said_with_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with bench() as made:
        closed = made.connect(url=f"amqp://127.0.0.1:{port}")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
        assert f"127.0.0.1:{port}" in closed.refused.text


def test_an_unknown_host_is_said_by_name() -> None:
    with bench() as made:
        closed = made.connect(url="amqp://no-such-host.invalid:5672")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "no-such-host.invalid" in closed.refused.text


def test_a_name_of_this_machine_is_looked_up() -> None:
    with bench() as made:
        assert isinstance(made.connect(url=made.peer.url.replace("127.0.0.1", "localhost")), Opened)


def test_a_peer_that_speaks_something_else_is_named() -> None:
    with bench() as made:
        made.peer.greeting = b"HTTP/1.1"
        closed = made.connect()
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "cannot be talked to" in closed.refused.text


def test_frames_are_traced_in_both_directions_when_asked_for() -> None:
    with bench() as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)
        frames = [event for event in made.said if isinstance(event, Frame)]
        texts = {(frame.direction, frame.text.split()[2]) for frame in frames if frame.text.startswith("channel")}
        assert {("out", "open"), ("in", "open"), ("out", "begin"), ("in", "begin")} <= texts


# --- sending


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (Delivery.ACCEPTED, None),
        (Delivery.RELEASED, JmsErrorKind.RESOURCE_ALLOCATION),
        (Delivery.MODIFIED, JmsErrorKind.RESOURCE_ALLOCATION),
        (Delivery.REJECTED, JmsErrorKind.MESSAGING),
        (0, JmsErrorKind.MESSAGING),
    ],
)
def test_a_send_is_answered_with_the_broker_s_outcome(opened: Bench, state: int, kind: JmsErrorKind | None) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(
        settle(state) if state else lambda delivery: delivery.settle()
    )
    opened.done(OpenSender, 1, 1, QUEUE)
    answer = opened.ask(Send, 1, HELLO)
    assert (answer.refused.kind if isinstance(answer, Failed) else None) == kind
    assert codec.decode(opened.peer.initial[-1]).message.body == "hello"


def test_a_rejection_with_a_reason_code_carries_code_and_objects(opened: Bench) -> None:
    def reject(delivery: Any) -> None:
        info = {symbol("x-opt-mqrc"): 2053, symbol("x-opt-mqrc-objects"): ["ORDERS"]}
        delivery.local.condition = Condition("amqp:resource-limit-exceeded", "MQRC_Q_FULL (2053): ORDERS", info)
        settle(Delivery.REJECTED)(delivery)

    opened.peer.handlers["DELIVERY"] = opened.peer.answer(reject)
    opened.done(OpenSender, 1, 1, QUEUE)
    refused = opened.refused(Send, 1, HELLO)
    assert refused.kind is JmsErrorKind.RESOURCE_ALLOCATION
    assert (refused.mqrc, refused.objects) == (2053, ("ORDERS",))


def test_messages_wait_for_credit_and_go_in_order(opened: Bench) -> None:
    links: list[Any] = []

    def accept(link: Any) -> None:
        link.target.copy(link.remote_target)
        link.open()
        links.append(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, QUEUE)
    tokens = [opened.submit(Send, 1, Message(body=str(number))) for number in range(3)]
    opened.peer.do(lambda: links[0].flow(2))
    opened.answer(tokens[1])
    assert not any(isinstance(event, Done) and event.token == tokens[2] for event in opened.said)
    opened.peer.do(lambda: links[0].flow(1))
    opened.answer(tokens[2])
    assert [codec.decode(octets).message.body for octets in opened.peer.initial[-3:]] == ["0", "1", "2"]


def test_a_settled_send_is_answered_at_once(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE, settled=True)
    opened.done(Send, 1, HELLO, settled=True)


def test_an_anonymous_sender_names_the_destination_in_the_message(opened: Bench) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, None)
    opened.done(Send, 1, Message(body="x", to=QUEUE))
    assert codec.decode(opened.peer.initial[-1]).message.to == QUEUE


def test_what_the_broker_says_of_a_destination_comes_with_the_sender(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.properties = {symbol("x-opt-mq-defbind"): symbol("OPEN"), symbol("x-opt-mq-clustered"): True}
        opened.peer.accept_link(link)

    assert opened.done(OpenSender, 1, 1, QUEUE).properties == {}
    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    told = opened.done(OpenSender, 1, 2, QUEUE).properties
    assert told == {"x-opt-mq-defbind": "OPEN", "x-opt-mq-clustered": True}
    assert type(told["x-opt-mq-defbind"]) is str
    assert opened.done(OpenSender, 1, 3, None).properties == {}, "nothing is known of what each send will name"


def test_a_message_that_amqp_cannot_carry_is_refused_by_itself(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    assert opened.refused(Send, 1, Message(properties={"big": 2**70})).kind is JmsErrorKind.MESSAGE_FORMAT
    assert opened.refused(Send, 1, Message(priority=700)).kind is JmsErrorKind.MESSAGE_FORMAT


def test_a_message_beyond_the_peer_s_limit_is_refused_before_it_is_sent(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.max_message_size = 100
        opened.peer.accept_link(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.done(OpenSender, 1, 1, QUEUE)
    assert opened.refused(Send, 1, Message(body="x" * 200)).mqrc == Mqrc.MSG_TOO_BIG_FOR_Q


def test_a_large_message_goes_in_many_frames_and_comes_back_whole(opened: Bench) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, QUEUE)
    opened.done(Send, 1, Message(body=b"x" * 3_000_000))
    assert len(codec.decode(opened.peer.initial[-1]).message.body or b"") == 3_000_000


def test_sends_without_an_answer_fail_when_the_line_drops(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    tokens = [opened.submit(Send, 1, HELLO) for _ in range(12)]
    opened.until(lambda: opened.peer.events.count("DELIVERY") == 10)
    opened.peer.do(opened.peer.drop)
    for token in tokens:
        answer = opened.answer(token)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST
    closed = opened.expect(Closed)
    assert closed.refused is not None
    assert opened.said[-1] is closed
    assert opened.refused(Send, 1, HELLO).kind is JmsErrorKind.CONNECTION_LOST


# --- links


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("amqp:not-found", JmsErrorKind.INVALID_DESTINATION),
        ("amqp:unauthorized-access", JmsErrorKind.SECURITY),
        ("amqp:resource-limit-exceeded", JmsErrorKind.RESOURCE_ALLOCATION),
        ("amqp:not-implemented", JmsErrorKind.UNSUPPORTED),
        ("vendor:something", JmsErrorKind.INVALID_DESTINATION),
    ],
)
def test_a_refused_link_says_why_and_the_session_goes_on(opened: Bench, condition: str, kind: JmsErrorKind) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition(condition, "no"))
    assert opened.refused(OpenSender, 1, 1, QUEUE).kind is kind
    assert opened.refused(OpenReceiver, session=1, link=2, address=QUEUE).kind is kind
    opened.until(lambda: opened.peer.events.count("LINK_REMOTE_CLOSE") == 2)
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.accept_link
    opened.done(OpenSender, 1, 1, QUEUE)


def test_a_refused_selector_is_an_invalid_selector(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:invalid-field", "syntax"))
    refused = opened.refused(OpenReceiver, session=1, link=2, address=QUEUE, selector="a =")
    assert refused.kind is JmsErrorKind.INVALID_SELECTOR


def test_a_broker_that_leaves_the_selector_aside_is_not_consumed_from(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.source.address = link.remote_source.address
        link.open()

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    refused = opened.refused(OpenReceiver, session=1, link=2, address=QUEUE, selector="a = 1")
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert "jms-selector" in refused.text
    opened.until(lambda: "LINK_REMOTE_CLOSE" in opened.peer.events)


def test_a_link_that_the_peer_closes_is_told(opened: Bench) -> None:
    receiver(opened)

    def close() -> None:
        opened.peer.sent_to.condition = Condition("amqp:resource-deleted", "gone")
        opened.peer.sent_to.close()

    opened.peer.do(close)
    closed = opened.expect(LinkClosed)
    assert closed.link == 2
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.INVALID_DESTINATION
    assert opened.refused(Credit, 2, 1).kind is JmsErrorKind.ILLEGAL_STATE
    opened.done(CloseLink, 2)


SUBSCRIPTIONS = [
    ({"name": "s", "durability": Durability.DURABLE}, ["s"], ["topic"]),
    ({"name": "s", "durability": Durability.DURABLE, "shared": True}, ["s", "s|2", "s|3"], ["topic", "shared"]),
    ({"name": "s", "shared": True}, ["s|volatile1", "s|volatile2"], ["topic", "shared"]),
]


@pytest.mark.parametrize(("options", "names", "capabilities"), SUBSCRIPTIONS)
def test_subscriptions_are_named_and_attached_as_qpid_jms_does(
    options: dict[str, Any], names: list[str], capabilities: list[str]
) -> None:
    with bench() as made:
        made.connect(client_id="me")
        made.done(OpenSession, 1)
        links: list[Any] = []

        def accept(link: Any) -> None:
            made.peer.accept_link(link)
            links.append(link)

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        for number, _ in enumerate(names):
            made.done(OpenReceiver, session=1, link=number, address=TOPIC, **options)
        assert [link.name for link in links] == names
        source = links[0].remote_source
        source.capabilities.rewind()
        source.capabilities.next()
        assert [str(name) for name in source.capabilities.get_py_array().elements] == capabilities
        durable = options.get("durability") is Durability.DURABLE
        assert source.durability == (Terminus.DELIVERIES if durable else Terminus.NONDURABLE)
        assert source.expiry_policy == (Terminus.EXPIRE_NEVER if durable else Terminus.EXPIRE_WITH_LINK)


def test_without_a_client_id_shared_subscriptions_are_everybody_s(opened: Bench) -> None:
    links: list[Any] = []

    def accept(link: Any) -> None:
        opened.peer.accept_link(link)
        links.append(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    durable = {"session": 1, "address": TOPIC, "name": "s", "shared": True, "durability": Durability.DURABLE}
    opened.done(OpenReceiver, link=1, **durable)
    opened.done(OpenReceiver, link=2, **durable)
    opened.done(OpenReceiver, link=3, session=1, address=TOPIC, name="s", shared=True)
    assert [link.name for link in links] == ["s|global", "s|global2", "s|global-volatile1"]


def test_an_unshared_subscription_in_use_and_an_illegal_name_are_refused_here(opened: Bench) -> None:
    durable = {"session": 1, "address": TOPIC, "durability": Durability.DURABLE}
    opened.done(OpenReceiver, link=1, name="s", **durable)
    assert opened.refused(OpenReceiver, link=2, name="s", **durable).mqrc == Mqrc.SUBSCRIPTION_IN_USE
    assert opened.refused(OpenReceiver, link=3, name="a|b", **durable).mqrc == Mqrc.SUB_NAME_ERROR
    opened.done(CloseLink, 1)
    opened.done(OpenReceiver, link=4, name="s", **durable)


def test_closing_a_durable_consumer_detaches_and_any_other_closes(opened: Bench) -> None:
    opened.done(OpenReceiver, session=1, link=1, address=TOPIC, name="s", durability=Durability.DURABLE)
    opened.done(CloseLink, 1)
    assert "LINK_REMOTE_DETACH" in opened.peer.events
    assert "LINK_REMOTE_CLOSE" not in opened.peer.events
    opened.done(OpenReceiver, session=1, link=2, address=QUEUE)
    opened.done(CloseLink, 2)
    assert "LINK_REMOTE_CLOSE" in opened.peer.events


def test_unsubscribing_looks_the_subscription_up_by_name_and_closes_the_link(opened: Bench) -> None:
    asked: list[tuple[str, int]] = []

    def accept(link: Any) -> None:
        asked.append((link.name, link.remote_source.type))
        link.source.address = "found"
        link.open()

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.done(Unsubscribe, 1, "s")
    assert asked == [("s", Terminus.UNSPECIFIED)]
    assert "LINK_REMOTE_CLOSE" in opened.peer.events


def test_a_shared_subscription_of_nobody_is_looked_up_with_desired_capabilities() -> None:
    with bench() as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)

        def accept(link: Any) -> None:
            link.source.address = "found"
            link.open()

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        made.done(Unsubscribe, 1, "s", shared=True)
        attach = next(
            e.text for e in made.said if isinstance(e, Frame) and e.direction == "out" and " attach " in e.text
        )
        assert "'s|global'" in attach
        assert "['shared', 'global']" in attach


def test_unsubscribing_what_is_not_there_is_an_invalid_destination(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-found", "unknown"))
    refused = opened.refused(Unsubscribe, 1, "s")
    assert (refused.kind, refused.objects) == (JmsErrorKind.INVALID_DESTINATION, ("s",))


# --- receiving


def test_messages_arrive_within_the_credit_and_are_settled_with_their_outcome(opened: Bench) -> None:
    receiver(opened)
    deliver(opened, 4)
    arrived = [opened.expect(Arrived, number) for number in range(1, 5)]
    assert {event.message.body for event in arrived} == {"hello"}
    assert {(event.link, event.epoch, event.count, event.redelivered) for event in arrived} == {(2, 1, 0, False)}
    states: list[int] = []
    opened.peer.handlers["DELIVERY"] = lambda delivery: states.append(int(delivery.remote_state))
    for event, outcome in zip(arrived, Outcome, strict=True):
        opened.done(Settle, 2, (event.delivery,), outcome)
    opened.until(lambda: len(states) == 4)
    assert states == [Delivery.ACCEPTED, Delivery.REJECTED, Delivery.RELEASED, Delivery.MODIFIED]
    refused = opened.refused(Settle, 2, (arrived[0].delivery,), Outcome.ACCEPTED)
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_a_drain_gives_the_credit_back_after_what_is_there(opened: Bench) -> None:
    receiver(opened)
    token = opened.submit(Drain, 2)
    opened.until(lambda: opened.peer.sent_to.drain_mode)
    deliver(opened, 2, drained=True)
    opened.answer(token)
    kinds = [type(event) for event in opened.said[-4:]]
    assert kinds == [Arrived, Arrived, Drained, Done]


def test_a_drain_without_credit_is_over_at_once(opened: Bench) -> None:
    receiver(opened, credit=0)
    opened.done(Drain, 2)
    assert isinstance(opened.said[-2], Drained)


def test_a_drain_is_over_when_messages_take_the_last_credit(opened: Bench) -> None:
    receiver(opened, credit=1)
    token = opened.submit(Drain, 2)
    opened.until(lambda: opened.peer.sent_to.drain_mode)
    deliver(opened)
    opened.answer(token)


def test_closing_a_receiver_gives_back_what_it_holds_as_failed_deliveries(opened: Bench) -> None:
    receiver(opened)
    deliver(opened)
    opened.expect(Arrived)
    states: list[tuple[int, bool]] = []
    opened.peer.handlers["DELIVERY"] = lambda d: states.append((int(d.remote_state), bool(d.remote.failed)))
    opened.done(CloseLink, 2)
    assert states == [(Delivery.MODIFIED, True)]


def test_a_message_nobody_can_read_is_rejected_and_its_credit_given_again(opened: Bench) -> None:
    receiver(opened, credit=1)

    def job() -> None:
        opened.peer.sent_to.delivery("bad")
        opened.peer.sent_to.stream(b"\x00\x53\x99\x40")
        opened.peer.sent_to.advance()

    states: list[int] = []
    opened.peer.handlers["DELIVERY"] = lambda delivery: states.append(int(delivery.remote_state))
    opened.peer.do(job)
    opened.until(lambda: states == [Delivery.REJECTED] and opened.peer.sent_to.credit == 1)


def test_a_browse_goes_round_until_a_round_is_not_filled(opened: Bench) -> None:
    rounds: list[int] = []
    octets = codec.encode(HELLO)

    def flow(link: Any) -> None:
        if link.is_sender and link.drain_mode and link.credit:
            rounds.append(link.credit)
            for number in range(link.credit if len(rounds) == 1 else 3):
                link.delivery(f"{len(rounds)}-{number}")
                link.stream(octets)
                link.advance()
            link.drained()

    opened.peer.handlers["LINK_FLOW"] = flow
    done = opened.done(Browse, 1, QUEUE)
    assert isinstance(done.value, tuple)
    assert (len(done.value), len(rounds)) == (1_003, 2)
    opened.until(lambda: "LINK_REMOTE_CLOSE" in opened.peer.events)


def test_a_browse_of_a_queue_that_is_not_there_is_refused(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-found", "no"))
    assert opened.refused(Browse, 1, QUEUE).kind is JmsErrorKind.INVALID_DESTINATION


# --- units of work


def coordinator(made: Bench, *, discharge: int = Delivery.ACCEPTED) -> list[Any]:
    """Let the peer answer a coordinator, and other senders with a transactional state; what it was told."""
    told: list[Any] = []

    def handle(delivery: Any) -> None:
        link = delivery.link
        if link.is_sender:
            told.append((int(delivery.remote_state), delivery.remote.data))
            return
        if not delivery.readable or delivery.partial:
            return
        octets = bytes(link.recv(delivery.pending))
        link.advance()
        if link.remote_target.type == Terminus.COORDINATOR:
            value = codec.types.Reader(octets)
            body: Any = value.value()
            while body.descriptor != codec.VALUE:
                body = value.value()
            told.append(body.value)
            if body.value.descriptor == 0x31:
                delivery.local.data = [b"txn"]
                delivery.update(0x33)
            else:
                delivery.update(discharge)
        else:
            told.append((int(delivery.remote_state), delivery.remote.data))
            delivery.local.data = [b"txn", Described(ulong(0x24), [])]
            delivery.update(0x34)
        delivery.settle()

    made.peer.handlers["DELIVERY"] = handle
    return told


def test_a_unit_of_work_is_declared_carried_by_its_messages_and_discharged(opened: Bench) -> None:
    told = coordinator(opened)
    opened.done(OpenSender, 1, 1, QUEUE)
    begin = opened.submit(Begin, 1, 7)
    send = opened.submit(Send, 1, HELLO, unit=7)
    commit = opened.submit(Commit, 7)
    for token in (begin, send, commit):
        assert isinstance(opened.answer(token), Done)
    assert told[0] == codec.types.Described(0x31, [None])
    assert told[1] == (0x34, [b"txn"])
    assert told[2] == codec.types.Described(0x32, [b"txn", False])


def test_an_enlisted_delivery_is_gone_at_the_commit(opened: Bench) -> None:
    receiver(opened)
    told = coordinator(opened)
    deliver(opened)
    arrived = opened.expect(Arrived)
    opened.done(Begin, 1, 7)
    opened.done(Enlist, 2, (arrived.delivery,), 7)
    opened.until(lambda: any(entry[0] == 0x34 for entry in told if isinstance(entry, tuple)))
    opened.done(Commit, 7)
    assert opened.refused(Settle, 2, (arrived.delivery,), Outcome.MODIFIED).kind is JmsErrorKind.ILLEGAL_STATE


def test_an_enlisted_delivery_is_the_broker_s_again_after_a_rollback(opened: Bench) -> None:
    receiver(opened)
    told = coordinator(opened)
    deliver(opened)
    arrived = opened.expect(Arrived)
    opened.done(Begin, 1, 7)
    opened.done(Enlist, 2, (arrived.delivery,), 7)
    opened.done(Rollback, 7)
    assert codec.types.Described(0x32, [b"txn", True]) in told
    opened.done(Settle, 2, (arrived.delivery,), Outcome.MODIFIED)
    assert [entry[0] for entry in told if isinstance(entry, tuple)] == [0x34]
    assert opened.refused(Settle, 2, (arrived.delivery,), Outcome.MODIFIED).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_discharge_that_is_rejected_is_a_rollback(opened: Bench) -> None:
    coordinator(opened, discharge=Delivery.REJECTED)
    opened.done(Begin, 1, 7)
    assert opened.refused(Commit, 7).kind is JmsErrorKind.TRANSACTION_ROLLED_BACK


def test_a_broker_without_a_coordinator_has_no_units_of_work(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-implemented", "no"))
    begin = opened.submit(Begin, 1, 7)
    commit = opened.submit(Commit, 7)
    answer = opened.answer(begin)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.UNSUPPORTED
    answer = opened.answer(commit)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK


# --- ends


def test_what_amqp_cannot_say_is_unsupported(opened: Bench) -> None:
    xa = (
        (EndXa, (b"x", XaEnd.SUCCESS)),
        (RecoverXa, ()),
        *((one, (b"x",)) for one in (Prepare, CommitXa, RollbackXa, ForgetXa)),
    )
    for make, args in (*xa, (Cancel, (1, "ID:1"))):
        assert opened.refused(make, *args).kind is JmsErrorKind.UNSUPPORTED
    assert opened.refused(Begin, 1, 1, b"xid").kind is JmsErrorKind.UNSUPPORTED


def test_commands_about_what_is_not_there_are_illegal_states(opened: Bench) -> None:
    for make, args in (
        (OpenSender, (9, 1, QUEUE)),
        (Send, (9, HELLO)),
        (Credit, (9, 1)),
        (Commit, (9,)),
        (Browse, (9, QUEUE)),
        (CloseSession, (9,)),
    ):
        assert opened.refused(make, *args).kind is JmsErrorKind.ILLEGAL_STATE


def test_closing_a_session_closes_its_links_without_telling_of_each(opened: Bench) -> None:
    receiver(opened)
    opened.done(OpenSender, 1, 1, QUEUE)
    opened.done(CloseSession, 1)
    assert not any(isinstance(event, LinkClosed) for event in opened.said)
    assert opened.refused(Send, 1, HELLO).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_session_that_the_peer_ends_closes_its_links(opened: Bench) -> None:
    receiver(opened)

    def end() -> None:
        opened.peer.sent_to.session.condition = Condition("amqp:illegal-state", "over")
        opened.peer.sent_to.session.close()

    opened.peer.do(end)
    assert opened.expect(LinkClosed).link == 2
    assert opened.refused(Credit, 2, 1).kind is JmsErrorKind.ILLEGAL_STATE


def test_an_orderly_close_is_answered_and_ends_without_a_reason(opened: Bench) -> None:
    opened.done(Close)
    assert opened.expect(Closed).refused is None
    assert "CONNECTION_REMOTE_CLOSE" in opened.peer.events


def test_a_close_whose_answer_never_comes_ends_at_its_time_limit(
    opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_sdk.drivers.amqp.wire.CLOSE_TIMEOUT_MS", 50)
    opened.peer.silent = True
    opened.done(Close)
    assert opened.expect(Closed).refused is None


def test_a_connection_that_the_broker_closes_is_lost_with_its_reason(opened: Bench) -> None:
    token = opened.submit(Drain, 2)
    opened.answer(token)

    def close() -> None:
        opened.peer.connection.condition = Condition("amqp:connection:forced", "shutting down")
        opened.peer.connection.close()

    opened.peer.do(close)
    closed = opened.expect(Closed)
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
    assert "shutting down" in closed.refused.text


def test_an_abort_sends_nothing_and_fails_what_is_open(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    token = opened.submit(Send, 1, HELLO)
    assert opened.wire is not None
    opened.wire.abort()
    answer = opened.answer(token)
    assert isinstance(answer, Failed)
    opened.expect(Closed)
    opened.until(lambda: "EOF" in opened.peer.events)
    assert "CONNECTION_REMOTE_CLOSE" not in opened.peer.events


def test_every_command_is_answered_once_when_the_line_drops_in_the_middle(opened: Bench) -> None:
    opened.peer.silent = True
    tokens = [
        opened.submit(OpenSession, 2),
        opened.submit(OpenSender, 1, 1, QUEUE),
        opened.submit(OpenReceiver, session=1, link=2, address=QUEUE),
        opened.submit(Send, 1, HELLO),
        opened.submit(Drain, 2),
        opened.submit(Begin, 1, 7),
        opened.submit(Commit, 7),
        opened.submit(Browse, 1, QUEUE),
        opened.submit(Unsubscribe, 1, "s"),
        opened.submit(CloseLink, 2),
        opened.submit(CloseSession, 1),
    ]
    opened.peer.do(opened.peer.drop)
    opened.expect(Closed)
    answered = [event.token for event in opened.said if isinstance(event, Done | Failed) and event.token in tokens]
    assert sorted(answered) == sorted(tokens)


def test_a_peer_without_heartbeats_is_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_sdk.drivers.amqp.wire.IDLE_TIMEOUT_S", 0.1)
    with bench() as made:
        made.connect()
        closed = made.expect(Closed)  # this peer has no clock and so no heartbeats
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
