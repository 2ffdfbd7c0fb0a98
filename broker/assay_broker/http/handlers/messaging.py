"""The handlers of messages: put, browse, list, take and publish.

An HTTP client counts as an application of the queue manager's native interface, not as a JMS client.  It can only send
without a delivery delay (DD-20), and its user needs the authorities of a native application.

"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from assay_broker.core.administration.changes import NativeBrowse, NativePut, NativeTake
from assay_broker.core.commands import AttachSender, Put
from assay_broker.core.effects import Answer, Value
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.http.requests.bodies import message_answer, message_body, summary, whole
from assay_broker.http.requests.connections import ManagerConnection, turn_event
from assay_broker.http.requests.descriptor import DELAY, MESSAGE_ID, delay_ms, drafted, given_id, shown_id
from assay_broker.http.requests.problems import Faults, HttpProblem, refusal_problem
from assay_broker.http.requests.request import ApiRequest, json_answer
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

_LINK = 1
_NOTHING = 204
_CREATED = 201
_REST_S = 0.01
"""The least seconds between two attempts of a waiting request."""
_POLL_S = 0.25
"""The most seconds until a waiting request notices that the server drains."""


async def put(request: ApiRequest) -> Response:
    """Put a message on a queue."""
    queue = request.path("queue")
    delay = delay_ms(request.http.headers)
    message = await _draft(request, Address(AddressKind.QUEUE, queue))
    async with request.connected() as asker:
        await asker.must(NativePut(queue, message, delay))
    return _created(request, message)


async def publish(request: ApiRequest) -> Response:
    """Publish a message on a topic string."""
    if DELAY in request.http.headers:
        raise HttpProblem(Faults.HEADER, f"{DELAY} is for messages to queues; leave it out.")
    topic = Address(AddressKind.TOPIC, request.path("topic"))
    message = await _draft(request, topic)
    async with request.connected() as asker:
        number = asker.number
        _granted(await asker.send(lambda token: AttachSender(number, token, _LINK, topic)))
        _granted(await asker.send(lambda token: Put(number, token, _LINK, message)))
    return _created(request, message)


def _granted(answer: Answer) -> None:
    if answer.refused is not None:
        raise refusal_problem(answer.refused)


async def _draft(request: ApiRequest, to: Address) -> Message:
    body = message_body(request.http, await request.body())
    return drafted(request.version, request.http.headers, to, body, manager=request.manager, now_ms=request.now_ms)


def _created(request: ApiRequest, message: Message) -> Response:
    shown = shown_id(request.version, native_id(message.message_id).hex())
    return Response(status_code=_CREATED, headers={MESSAGE_ID: shown})


async def browse(request: ApiRequest) -> Response:
    """Answer with the first message that has the ids in the query, and leave it on the queue."""
    async with request.connected() as asker:
        value = await asker.must(NativeBrowse(request.path("queue"), *_ids(request), limit=1))
    return _one(request, value, in_full=_in_full(request))


async def listing(request: ApiRequest) -> Response:
    """Answer with a list of the messages that have the ids in the query."""
    limits = request.served.limits
    limit = request.number("limit", limits.messages, limits.messages)
    async with request.connected() as asker:
        value = await asker.must(NativeBrowse(request.path("queue"), *_ids(request), limit=limit + 1))
    found = list(_described(value))
    show = whole if _in_full(request) else summary
    shown: list[dict[str, object]] = []
    octets = 0
    for one in found[:limit]:
        item = show(request.version, one)
        octets += len(str(item.get("body", "")))
        if shown and octets > limits.answer:
            break
        shown.append(item)
    return json_answer({"messages": shown, "more": len(found) > len(shown)})


async def take(request: ApiRequest) -> Response:
    """Remove the first message that has the ids in the query, and answer with this message.

    If no message matches, wait for one up to the milliseconds in the query parameter ``wait``.
    """
    change = NativeTake(request.path("queue"), *_ids(request))
    in_full = _in_full(request)
    wait_ms = _wait_ms(request)
    async with request.connected() as asker:
        value = await asker.must(change)
        if not value and wait_ms:
            value = await _later(request, asker, change, wait_ms)
    return _one(request, value, in_full=in_full)


def _wait_ms(request: ApiRequest) -> int:
    """Return the time for which a request waits for a message, in milliseconds.

    Raises:
        HttpProblem: The time is longer than the server's limit.  An earlier answer would wrongly tell the client that
            no message came in the whole time.
    """
    longest = request.served.limits.wait_ms
    asked = request.number("wait", 0, longest + 1)
    if asked > longest:
        raise HttpProblem(Faults.QUERY, f"wait is at most {longest} ms here (wait-ms of the server's [http-limits]).")
    return asked


async def _later(request: ApiRequest, asker: ManagerConnection, change: NativeTake, wait_ms: int) -> Value:
    """Try to take a message after each turn of the queue manager, until the time is over or the client disconnects.

    Args:
        request: The request.
        asker: The connection to the queue manager.
        change: The command that takes a message.
        wait_ms: The time, in milliseconds.

    Returns:
        The message; empty if no message came.

    Raises:
        HttpProblem: The server drains before the time is over, or the queue manager refuses the command.
    """
    gone = asyncio.create_task(_hang_up(request.http))
    clock = asyncio.get_running_loop().time
    until = clock() + wait_ms / 1_000
    value: Value = ()
    try:
        with turn_event(request.served.queue_manager) as rung:
            while not value and (left := until - clock()) > 0:
                if not request.served.ready():
                    text = f"{request.manager} is stopping; no message has come."
                    raise HttpProblem(Faults.NO_CONNECTION, text, reason=int(Mqrc.CONNECTION_QUIESCING))
                await _either(rung, gone, min(left, _POLL_S))
                if gone.done():
                    break
                if rung.is_set():
                    rung.clear()
                    value = await asker.must(change)
                    await asyncio.sleep(0 if value else _REST_S)  # many turns in a row must not cost an attempt each
    finally:
        gone.cancel()
    return value


async def _either(rung: asyncio.Event, gone: asyncio.Task[None], at_most_s: float) -> None:
    ringing = asyncio.create_task(rung.wait())
    await asyncio.wait((ringing, gone), timeout=at_most_s, return_when=asyncio.FIRST_COMPLETED)
    ringing.cancel()


async def _hang_up(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _ids(request: ApiRequest) -> tuple[bytes | None, bytes | None]:
    """Return the CorrelId and the MsgId in the query; None for an id that the query does not have."""
    names = ("correlationId", "messageId")
    given = ((name, request.query(name)) for name in names)
    found = [None if value is None else given_id(request.version, value, name) for name, value in given]
    return found[0], found[1]


def _in_full(request: ApiRequest) -> bool:
    """Return whether the query asks for the whole message as JSON.

    Raises:
        HttpProblem: The parameter ``detail`` has another value than ``full``.
    """
    given = request.query("detail")
    if given not in {None, "full"}:
        raise HttpProblem(Faults.QUERY, "The only value of detail is full.")
    return given == "full"


def _one(request: ApiRequest, value: Value, *, in_full: bool) -> Response:
    for described in _described(value):
        if in_full:
            return json_answer(whole(request.version, described))
        return message_answer(request.version, described, request.served.limits)
    return Response(status_code=_NOTHING)


def _described(value: Value) -> Iterator[Described]:
    return (one for one in value or () if isinstance(one, Described))
