"""Messages over HTTP: put, browse, list, take, publish.

The client is an application of the queue manager's native interface, not a JMS client: it can send without a delivery
delay only (DD-20), and its authority is an application's.

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
"""Seconds between two attempts of a waiting request, however busy the queue manager is."""
_LOOK_S = 0.25
"""Seconds after which a waiting request notices that the server drains."""


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
    """Return the first message that matches."""
    async with request.connected() as asker:
        value = await asker.must(NativeBrowse(request.path("queue"), *_ids(request), limit=1))
    return _one(request, value, in_full=_in_full(request))


async def listing(request: ApiRequest) -> Response:
    """List messages."""
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
    """Take the first message that matches, and wait for one if the request says so."""
    change = NativeTake(request.path("queue"), *_ids(request))
    in_full = _in_full(request)
    wait_ms = _wait_ms(request)
    async with request.connected() as asker:
        value = await asker.must(change)
        if not value and wait_ms:
            value = await _later(request, asker, change, wait_ms)
    return _one(request, value, in_full=in_full)


def _wait_ms(request: ApiRequest) -> int:
    """Return how long the request waits for a message.

    Raises:
        HttpProblem: It is longer than the server waits: an answer before its end would say that no message came.
    """
    longest = request.served.limits.wait_ms
    asked = request.number("wait", 0, longest + 1)
    if asked > longest:
        raise HttpProblem(Faults.QUERY, f"wait is at most {longest} ms here (wait-ms of the server's [http-limits]).")
    return asked


async def _later(request: ApiRequest, asker: ManagerConnection, change: NativeTake, wait_ms: int) -> Value:
    """Try again after each turn of the queue manager; take nothing after the client has gone.

    Raises:
        HttpProblem: The server stops before the time is over.
    """
    gone = asyncio.create_task(_hang_up(request.http))
    clock = asyncio.get_running_loop().time
    until = clock() + wait_ms / 1_000
    value: Value = ()
    try:
        with turn_event(request.served.queue_manager) as rung:
            while not value and (left := until - clock()) > 0:
                if not request.served.ready():
                    text = f"{request.manager} stops; no message came until then."
                    raise HttpProblem(Faults.NO_CONNECTION, text, reason=int(Mqrc.CONNECTION_QUIESCING))
                await _either(rung, gone, min(left, _LOOK_S))
                if gone.done():
                    break
                if rung.is_set():
                    rung.clear()
                    value = await asker.must(change)
                    await asyncio.sleep(0 if value else _REST_S)
    finally:
        gone.cancel()
    return value


async def _either(rung: asyncio.Event, gone: asyncio.Task[None], at_most_s: float) -> None:
    ringing = asyncio.create_task(rung.wait())
    await asyncio.wait((ringing, gone), timeout=at_most_s, return_when=asyncio.FIRST_COMPLETED)
    ringing.cancel()


async def _hang_up(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _ids(request: ApiRequest) -> tuple[bytes | None, bytes | None]:
    """Return the CorrelId and MsgId in the query."""
    names = ("correlationId", "messageId")
    given = ((name, request.query(name)) for name in names)
    found = [None if value is None else given_id(request.version, value, name) for name, value in given]
    return found[0], found[1]


def _in_full(request: ApiRequest) -> bool:
    """Whether the query asks for all fields of the message."""
    given = request.query("detail")
    if given not in {None, "full"}:
        raise HttpProblem(Faults.QUERY, "detail is full, or is not given.")
    return given == "full"


def _one(request: ApiRequest, value: Value, *, in_full: bool) -> Response:
    for described in _described(value):
        if in_full:
            return json_answer(whole(request.version, described))
        return message_answer(request.version, described, request.served.limits)
    return Response(status_code=_NOTHING)


def _described(value: Value) -> Iterator[Described]:
    return (one for one in value or () if isinstance(one, Described))
