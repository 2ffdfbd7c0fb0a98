"""Tests of the delay processor's states (DD-60 to DD-65), by a message whose delay is over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import T0, Bench, Traced, message, queue

from assay_broker.core import commands
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Value
from assay_broker.core.records import MessageRemoved
from assay_broker.core.settings import Platform, Settings
from assay_broker.core.states.processor import PROCESSOR, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
Happening = Callable[[Bench], None]


def settings(platform: Platform, level: str = "8.0", **staging: Value) -> Settings:
    """Return settings of a queue manager with a staging queue, which on z/OS an administrator has defined."""
    found = default_settings(platform=platform, level=level)
    objects = tuple(one for one in found.objects if one.name != STAGING_QUEUE)
    return replace(found, objects=(*objects, queue(STAGING_QUEUE, MSGDLVSQ="FIFO", **staging)))


def started(platform: Platform, tables: Tables | None = None, **staging: Value) -> Bench:
    bench = Bench(settings(platform, **staging), tables=tables or Tables())
    bench.connect(1)
    bench.sender(1, 1)
    return bench


def alteration(**attributes: Value) -> Happening:
    def happen(bench: Bench) -> None:
        bench.alter(STAGING_QUEUE, **attributes)

    return happen


def worker_dies(bench: Bench) -> None:
    bench.handle(commands.WorkerDied())


def store_fails(bench: Bench) -> None:
    """Let a message become due while the store cannot record its removal from the staging queue."""
    bench.put(1, 1, message("unlucky", delivery_time_ms=bench.now + 1))
    bench.auto = False
    bench.tick(bench.now + 1)
    bench.auto = True
    bench.fail()


def time_passes(bench: Bench) -> None:
    bench.tick(bench.now + bench.settings.retry_ms)


def deleted(bench: Bench) -> None:
    bench.delete(STAGING_QUEUE)


def defined(bench: Bench) -> None:
    bench.define(queue(STAGING_QUEUE, MSGDLVSQ="FIFO"))


larger = alteration(MAXDEPTH=9_999)
put_off = alteration(PUT="DISABLED")
put_on = alteration(PUT="ENABLED")
get_off = alteration(GET="DISABLED")
get_on = alteration(GET="ENABLED")

LIVES: list[tuple[str, Platform, dict[str, Value], list[tuple[Happening, bool]]]] = [
    # The title, the platform, attributes of the staging queue at the start, and events.  The boolean of an event says
    # whether due messages move after it.
    ("it starts with the queue manager", "distributed", {}, []),
    ("it starts although puts are disabled", "distributed", {"PUT": "DISABLED"}, [(put_on, True)]),
    (
        "it waits for its queue",
        "distributed",
        {"GET": "DISABLED"},
        [(larger, False), (worker_dies, False), (time_passes, False), (get_on, True)],
    ),
    ("it goes on with puts disabled", "distributed", {}, [(larger, True), (put_off, True), (put_on, True)]),
    (
        "it closes and opens with its queue",
        "distributed",
        {},
        [(get_off, False), (put_off, False), (get_on, True), (put_on, True), (deleted, False), (defined, True)],
    ),
    (
        "it starts again by itself when its worker dies",
        "distributed",
        {},
        [(worker_dies, False), (worker_dies, False), (larger, False), (put_off, False), (time_passes, True)],
    ),
    (
        "it starts again by itself when the store fails",
        "distributed",
        {},
        [(store_fails, False), (put_off, False), (put_on, False), (time_passes, True)],
    ),
    (
        "one that has failed closes with its queue, and no restart is left over",
        "distributed",
        {},
        [(worker_dies, False), (get_off, False), (time_passes, False), (get_on, True)],
    ),
    ("it starts with the queue manager", "zos", {}, [(larger, True)]),
    ("it is stopped at the start already", "zos", {"PUT": "DISABLED"}, [(put_on, True)]),
    ("it waits for its queue", "zos", {"GET": "DISABLED"}, [(larger, False), (worker_dies, False), (get_on, True)]),
    (
        "PUT(DISABLED) stops it, and nothing else starts it again",
        "zos",
        {},
        [(put_off, False), (larger, False), (worker_dies, False), (time_passes, False), (put_on, True)],
    ),
    (
        "a stopped one closes with its queue and is stopped again with it",
        "zos",
        {},
        [(put_off, False), (get_off, False), (get_on, False), (get_off, False), (put_on, False), (get_on, True)],
    ),
    ("it closes and opens with its queue", "zos", {}, [(get_off, False), (get_on, True)]),
    ("a definition starts it", "zos", {}, [(deleted, False), (time_passes, False), (defined, True)]),
    (
        "after another failure PUT has to be disabled and enabled again",
        "zos",
        {},
        [(worker_dies, False), (time_passes, False), (larger, False), (put_off, False), (put_on, True)],
    ),
    (
        "two failures are one",
        "zos",
        {},
        [(worker_dies, False), (worker_dies, False), (put_off, False), (put_on, True)],
    ),
    (
        "after a failed store PUT has to be disabled and enabled again",
        "zos",
        {},
        [(store_fails, False), (time_passes, False), (put_on, False), (put_off, False), (put_on, True)],
    ),
    (
        "one that has failed closes with its queue",
        "zos",
        {},
        [(worker_dies, False), (get_off, False), (get_on, True)],
    ),
]


def live(bench: Bench, happenings: list[tuple[Happening, bool]]) -> None:
    """Check after each event whether a due message waits or moves; each message comes once, and none early."""
    came: list[str] = []
    for number, (happen, moves) in enumerate([(lambda _: None, bench.core._state.processor.watching), *happenings]):
        text = f"m{number}"
        takes_puts = not _says(bench, "PUT", "DISABLED")
        if takes_puts:
            bench.put(1, 1, message(text, delivery_time_ms=bench.now + 10))
            assert text in bench.browse(STAGED)
        happen(bench)
        bench.tick(bench.now + 10)
        waiting = [body for body in bench.browse() if body != "unlucky"]
        if moves:
            assert text in waiting or not takes_puts, f"after step {number} {text} has not come"
            assert bench.core._state.processor.state is ProcessorState.WATCHING
        else:
            assert waiting == came, f"after step {number} something moved"
        came = waiting
    assert len(came) == len(set(came)), "something came twice"


def _says(bench: Bench, keyword: str, word: str) -> bool:
    definition = bench.core._state.objects.queue(STAGING_QUEUE)
    return definition is None or definition.says(keyword, word)


@pytest.mark.parametrize(
    ("platform", "staging", "happenings"),
    [pytest.param(*life[1:], id=f"{life[1]}: {life[0]}") for life in LIVES],
)
def test_a_processor_lives_as_its_platform_says(
    platform: Platform, staging: dict[str, Value], happenings: list[tuple[Happening, bool]]
) -> None:
    bench = started(platform, **staging)
    live(bench, happenings)
    bench.at_rest()


@pytest.mark.parametrize("platform", PROCESSOR)
def test_these_lives_reach_every_cell_of_the_table(platform: Platform) -> None:
    traced = Traced(PROCESSOR[platform])
    tables = Tables(processor={**PROCESSOR, platform: traced})
    for _, where, staging, happenings in LIVES:
        if where == platform:
            live(started(platform, tables, **staging), happenings)
    print(f"\n{platform}: {len(traced.reached)} of {len(traced)} cells of the delay processor reached")  # noqa: T201 - the count is asked for
    assert not traced.missed


@pytest.mark.parametrize("kill", [True, False])
@pytest.mark.parametrize("platform", PROCESSOR)
def test_a_restart_is_a_start_whatever_state_it_was_in(platform: Platform, *, kill: bool) -> None:
    bench = started(platform)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    worker_dies(bench)
    bench.tick(T0 + 10)
    assert bench.core._state.processor.state is ProcessorState.FAILED
    bench.restart(kill=kill)
    bench.connect(1)
    bench.tick(bench.now)
    assert bench.browse() == ["a"]


@pytest.mark.parametrize("platform", PROCESSOR)
def test_the_attribute_that_stops_the_processor_survives_a_restart(platform: Platform) -> None:
    bench = started(platform)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    get_off(bench)
    bench.restart()
    bench.connect(1)
    bench.tick(T0 + 10)
    assert bench.browse() == []
    get_on(bench)
    assert bench.browse() == ["a"]


@pytest.mark.parametrize("platform", PROCESSOR)
def test_an_alteration_that_the_store_cannot_take_neither_starts_nor_stops_it(platform: Platform) -> None:
    bench = started(platform)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    bench.auto = False
    get_off(bench)
    assert bench.core._state.processor.state is ProcessorState.CLOSED
    bench.fail()
    bench.auto = True
    bench.tick(T0 + 10)
    assert bench.browse() == ["a"]


def test_an_alteration_that_cannot_be_stored_takes_back_what_it_set_moving() -> None:
    bench = started("zos")
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    put_off(bench)
    bench.tick(T0 + 10)
    bench.auto = False
    put_on(bench)
    bench.fail()
    bench.auto = True
    assert (bench.browse(), bench.browse(STAGED)) == ([], ["a"])
    assert bench.core._state.processor.state is ProcessorState.STOPPED
    put_on(bench)
    assert (bench.browse(), bench.browse(STAGED)) == (["a"], [])
    bench.at_rest()


def test_on_zos_nothing_is_staged_before_its_queue_is_defined() -> None:
    bench = Bench(default_settings(platform="zos"))
    bench.connect(1)
    bench.sender(1, 1)
    refused = bench.answers[bench.put(1, 1, message("early", delivery_time_ms=T0 + 10))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.UNKNOWN_OBJECT_NAME), (STAGING_QUEUE,))
    defined(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    bench.tick(T0 + 10)
    assert bench.browse() == ["a"]


def older(bench: Bench, level: str) -> None:
    bench.settings = replace(bench.settings, level=level)
    bench.restart()
    bench.connect(1)
    bench.sender(1, 1)


@pytest.mark.parametrize("platform", PROCESSOR)
def test_messages_are_marooned_at_an_earlier_level_and_delivered_back_at_this_one(platform: Platform) -> None:
    bench = started(platform)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    older(bench, "7.5")
    worker_dies(bench)
    get_off(bench)
    get_on(bench)
    bench.tick(T0 + 100_000)
    assert (bench.browse(), bench.browse(STAGED)) == ([], ["a"])
    refused = bench.answers[bench.put(1, 1, message("b", delivery_time_ms=bench.now + 10))].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED
    older(bench, "8.0")
    assert (bench.browse(), bench.browse(STAGED)) == (["a"], [])


def test_a_message_staged_below_level_8_stays_if_its_expiry_cannot_be_stored() -> None:
    bench = started("distributed")
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10, ttl_ms=50))
    older(bench, "7.5")
    bench.auto = False
    bench.tick(T0 + 50)
    bench.fail()
    bench.auto = True
    bench.restart()
    bench.connect(1)
    assert bench.browse(STAGED) == []
    assert bench.disk[-1] == MessageRemoved(1)


def test_opmode_does_not_protect_delivery_delay() -> None:
    bench = Bench(replace(settings("zos"), opmode="COMPAT"))
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    bench.tick(T0 + 10)
    assert bench.browse() == ["a"]


def test_a_definition_is_what_the_staging_queue_is_limited_by() -> None:
    bench = started("distributed", MAXDEPTH=1)
    assert bench.answers[bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))].refused is None
    assert bench.answers[bench.put(1, 1, message("b", delivery_time_ms=T0 + 10))].refused is not None
    bench.alter(STAGING_QUEUE, MAXDEPTH=2)
    assert bench.answers[bench.put(1, 1, message("b", delivery_time_ms=T0 + 10))].refused is None
    bench.tick(T0 + 10)
    assert bench.answers[bench.put(1, 1, message("c", delivery_time_ms=bench.now + 10))].refused is None
