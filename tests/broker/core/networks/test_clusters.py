"""Tests of clustered destinations: the properties that a sender gets, and refusals."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import QUEUE, T0, Bench, message

from assay_broker.core.commands import AttachSender
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.driver import PeerProperties
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused

FRONT = Address(AddressKind.QUEUE, "FRONT")


def bench(cluster: str, defbind: str, *, alias: str | None = None, keyword: str = "CLUSTER") -> Bench:
    """Return a queue manager with a queue Q, and its alias FRONT if the alias's DEFBIND is given."""
    queue = defaults(Kind.QLOCAL) | {keyword: cluster, "DEFBIND": defbind}
    settings = default_settings()
    objects = [*settings.objects, Definition(Kind.QLOCAL, QUEUE.name, queue)]
    if alias is not None:
        front = defaults(Kind.QALIAS) | {"TARGET": QUEUE.name, "DEFBIND": alias}
        objects.append(Definition(Kind.QALIAS, FRONT.name, front))
    made = Bench(replace(settings, objects=tuple(objects)))
    made.connect(1)
    return made


def sent(made: Bench, delay_ms: int, to: Address = QUEUE) -> Refused | None:
    """Return the refusal of a send with a delay, or None."""
    assert made.sender(1, 1, to) is None
    token = made.put(1, 1, message(delivery_time_ms=T0 + delay_ms if delay_ms else None))
    return made.answers[token].refused


def told(made: Bench, to: Address) -> PeerProperties:
    """Open a sender, and return the properties that the queue manager sends with it."""
    token = made.token()
    made.handle(AttachSender(1, token, 9, to))
    return made.answers[token].properties


@pytest.mark.parametrize("keyword", ["CLUSTER", "CLUSNL"])
@pytest.mark.parametrize("defbind", ["OPEN", "GROUP", "NOTFIXED"])
@pytest.mark.parametrize("delay_ms", [0, 1])
@pytest.mark.parametrize("cluster", ["", "C"])
def test_a_delay_to_a_clustered_destination_needs_defbind_notfixed(
    cluster: str, defbind: str, delay_ms: int, keyword: str
) -> None:
    made = bench(cluster, defbind, keyword=keyword)
    assert told(made, QUEUE) == {"x-opt-mq-clustered": bool(cluster), "x-opt-mq-defbind": defbind}
    refused = sent(made, delay_ms)
    if cluster and delay_ms and defbind != "NOTFIXED":
        assert refused is not None
        assert (refused.mqrc, refused.objects) == (Mqrc.OPTIONS_ERROR, (QUEUE.name,))
        assert made.core.next_due_ms() is None, "something was staged"
    else:
        assert refused is None


def test_the_aliases_defbind_beats_the_one_of_its_base() -> None:
    assert sent(bench("C", "OPEN", alias="NOTFIXED"), 5, FRONT) is None
    refused = sent(bench("C", "NOTFIXED", alias="OPEN"), 5, FRONT)
    assert refused is not None
    assert refused.mqrc == Mqrc.OPTIONS_ERROR
    assert refused.objects == (FRONT.name,)
