"""Claims about AMQP frames: the transfers of messages, and the dispositions that accept and settle them."""

from __future__ import annotations

from pytest_bdd import then

from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.world import World
from assay_steps.words.parsing import phrase


@then(phrase("{labels:Names} came over the wire to {name:Name} once, settled"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str) -> None:
    _came(world, evidence, labels, name, settled=1)


@then(phrase("{labels:Names} came over the wire to {name:Name} once, not settled"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str) -> None:
    _came(world, evidence, labels, name, settled=0)


@then(phrase("{name:Name} accepted {labels:Names} over the wire, each after its acknowledgement"))
def _(world: World, evidence: Evidence, name: str, labels: tuple[str, ...]) -> None:
    _await(world, labels, name, settled=False)
    _disposed(world, evidence, labels, name, settled=0)


@then(phrase("{name:Name} accepted {labels:Names} over the wire automatically"))
def _(world: World, evidence: Evidence, name: str, labels: tuple[str, ...]) -> None:
    _await(world, labels, name, settled=False)
    _disposed(world, evidence, labels, name, acknowledged=0, settled=0)


@then(phrase("{name:Name} did not accept {labels:Names} over the wire"))
def _(world: World, evidence: Evidence, name: str, labels: tuple[str, ...]) -> None:
    keys = world.keys(labels)
    world.wait_until(lambda: all(world.sightings.transferred(name, key) for key in keys), _limit(world))
    world.listen_for(world.limits.quiet_ms, (name,))
    _disposed(world, evidence, labels, name, times=0)


@then(phrase("each of {labels:Names} that {name:Name} accepted was settled over the wire"))
def _(world: World, evidence: Evidence, name: str, labels: tuple[str, ...]) -> None:
    _await(world, labels, name, settled=True)
    _disposed(world, evidence, labels, name, accepted=0)


@then(phrase("{labels:Names} were accepted and settled over the wire, each before its send call returned"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...]) -> None:
    keys = world.keys(labels)
    world.wait_until(lambda: all(world.sightings.disposed(None, key, settled=True) for key in keys), _limit(world))
    evidence.claim("disposed", {"kids": listed(keys)})


def _came(world: World, evidence: Evidence, labels: tuple[str, ...], name: str, **bounds: int) -> None:
    evidence.claim("transferred", {"kids": listed(world.keys(labels)), "actor": name}, {"times": 1, **bounds})


def _await(world: World, labels: tuple[str, ...], name: str, *, settled: bool) -> None:
    """Wait, at most `_limit`, until each of an actor's messages has a disposition frame with an outcome.

    With ``settled``, wait instead until each has a disposition frame that settles the delivery.
    """
    keys = world.keys(labels)
    world.wait_until(lambda: all(world.sightings.disposed(name, key, settled=settled) for key in keys), _limit(world))


def _limit(world: World) -> int:
    return max(world.limits.expected_ms, world.limits.quiet_ms)


def _disposed(world: World, evidence: Evidence, labels: tuple[str, ...], name: str, **bounds: int) -> None:
    evidence.claim("disposed", {"kids": listed(world.keys(labels)), "actor": name}, bounds)
