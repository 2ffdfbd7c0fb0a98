"""Lets stompman judge a STOMP server.

``list`` prints the names of all checks; ``run --url U [NAME...]`` runs them, and prints one line of JSON for each.
stompman speaks STOMP 1.2 only, and sends a heart-beat in any case.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import stompman
from stompman.errors import SendReceiptError
from stompman.frames import ErrorFrame
from stompman.subscription import AckableMessageFrame

LIMIT_S = 10.0
URL = urlsplit("stomp://127.0.0.1:61613")
CHECKS: dict[str, Callable[[str], Awaitable[None]]] = {}
Frames = asyncio.Queue[AckableMessageFrame]


def check(body: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
    CHECKS[body.__name__] = body
    return body


@asynccontextmanager
async def client(
    heartbeat: int = 1_000, on_error: Callable[[ErrorFrame], object] | None = None
) -> AsyncIterator[stompman.Client]:
    place = stompman.ConnectionParameters(URL.hostname or "", URL.port or 0, "guest", "guest")
    beats = stompman.Heartbeat(will_send_interval_ms=heartbeat, want_to_receive_interval_ms=heartbeat)
    async with stompman.Client([place], heartbeat=beats, on_error_frame=on_error, connect_retry_attempts=1) as one:
        yield one


async def subscribed(
    one: stompman.Client, to: str, ack: str = "client-individual", headers: dict[str, str] | None = None
) -> tuple[Frames, stompman.ManualAckSubscription]:
    frames: Frames = asyncio.Queue()
    found = await one.subscribe_with_manual_ack(to, frames.put, ack=ack, headers=headers, receipt_timeout=LIMIT_S)
    return frames, found


async def taken(frames: Frames) -> AckableMessageFrame:
    return await asyncio.wait_for(frames.get(), LIMIT_S)


async def none(frames: Frames) -> None:
    try:
        found = await asyncio.wait_for(frames.get(), 0.3)
    except TimeoutError:
        return
    raise AssertionError(f"a message came: {found.body!r}")


async def left(to: str, count: int) -> list[bytes]:
    """Return what is on a queue; wait long only for the expected number of messages."""
    async with client() as other:
        frames, subscription = await subscribed(other, to)
        bodies: list[bytes] = []
        while True:
            try:
                frame = await asyncio.wait_for(frames.get(), LIMIT_S if len(bodies) < count else 0.4)
            except TimeoutError:
                await subscription.unsubscribe()
                return sorted(bodies)
            bodies.append(frame.body)
            await frame.ack()


@check
async def version_1_2(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        await one.send(b"hello", to, receipt_timeout=LIMIT_S)
        frame = await taken(frames)
        assert frame.body == b"hello"
        await frame.ack()
        await subscription.unsubscribe()
    assert await left(to, 0) == []


@check
async def receipts(to: str) -> None:
    async with client() as one:
        await asyncio.gather(
            *(one.send(b"x", to, headers={"persistent": "true"}, receipt_timeout=LIMIT_S) for _ in range(20))
        )
    assert len(await left(to, 20)) == 20


async def _three(one: stompman.Client, to: str, ack: str) -> list[AckableMessageFrame]:
    frames, subscription = await subscribed(one, to, ack)
    for number in range(3):
        await one.send(str(number).encode(), to, receipt_timeout=LIMIT_S)
    found = [await taken(frames) for _ in range(3)]
    await found[1].ack()
    await subscription.unsubscribe()
    return found


@check
async def ack_client_is_cumulative(to: str) -> None:
    async with client() as one:
        await _three(one, to, "client")
    assert await left(to, 1) == [b"2"]


@check
async def ack_individual(to: str) -> None:
    async with client() as one:
        await _three(one, to, "client-individual")
    assert await left(to, 2) == [b"0", b"2"]


@check
async def nack_comes_again(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        await one.send(b"x", to, receipt_timeout=LIMIT_S)
        await (await taken(frames)).nack()
        again = await taken(frames)
        assert again.headers.get("redelivered") == "true"
        await again.ack()
        await subscription.unsubscribe()


@check
async def commit(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        async with one.begin() as transaction:
            await transaction.send(b"x", to)
            await none(frames)
        await (await taken(frames)).ack()
        await subscription.unsubscribe()


def _fail() -> None:
    raise KeyError


@check
async def abort(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        with suppress(KeyError):
            async with one.begin() as transaction:
                await transaction.send(b"x", to)
                _fail()
        await none(frames)
        await subscription.unsubscribe()


@check
async def headers_with_special_characters(to: str) -> None:  # stompman drops carriage returns that it receives
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        await one.send(b"x", to, headers={"a:b": "c\\d:e\nf", "ü": "grün"}, receipt_timeout=LIMIT_S)
        frame = await taken(frames)
        found = frame.headers["a:b"], frame.headers["ü"]
        assert found == ("c\\d:e\nf", "grün"), found
        await frame.ack()
        await subscription.unsubscribe()


@check
async def bodies(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to)
        for body in ("grün €".encode(), b"\0a\0\n\0", b"x" * 3_000_000):
            await one.send(body, to, receipt_timeout=LIMIT_S)
            frame = await taken(frames)
            assert frame.body == body
            await frame.ack()
        await subscription.unsubscribe()


@check
async def selector(to: str) -> None:
    async with client() as one:
        frames, subscription = await subscribed(one, to, headers={"selector": "colour = 'red'"})
        for colour in ("blue", "red"):
            await one.send(colour.encode(), to, headers={"colour": colour}, receipt_timeout=LIMIT_S)
        frame = await taken(frames)
        assert frame.body == b"red"
        await frame.ack()
        await none(frames)
        await subscription.unsubscribe()


@check
async def heart_beats(to: str) -> None:
    async with client(heartbeat=800) as one:
        await asyncio.sleep(3)  # several intervals of heart-beats, in real time
        await one.send(b"x", to, receipt_timeout=LIMIT_S)


@check
async def an_error_is_reported(to: str) -> None:
    errors: asyncio.Queue[ErrorFrame] = asyncio.Queue()
    async with client(on_error=errors.put_nowait) as one:
        with suppress(SendReceiptError):
            await one.send(b"x", to, headers={"priority": "much"}, receipt_timeout=2)
        frame = await asyncio.wait_for(errors.get(), LIMIT_S)
        assert frame.headers["mqrc"] == "2050", frame


async def _tried(name: str) -> dict[str, object]:
    began, detail = time.monotonic(), ""
    try:
        await asyncio.wait_for(CHECKS[name](f"/queue/stompman.{name}"), 30)
    except Exception:  # noqa: BLE001  a check reports what it raises
        detail = traceback.format_exc(limit=6)
    return {"check": name, "ok": not detail, "ms": round((time.monotonic() - began) * 1000), "detail": detail}


async def main() -> None:
    """List or run the checks."""
    global URL  # noqa: PLW0603  the one option
    mode, *rest = sys.argv[1:]
    names: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--url":
            URL = urlsplit(rest.pop(0))
        elif word.startswith("--"):
            rest.pop(0)
        else:
            names.append(word)
    for name in CHECKS:
        if mode == "list":
            sys.stdout.write(f"{name}\n")
        elif not names or name in names:
            sys.stdout.write(f"{json.dumps(await _tried(name))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
