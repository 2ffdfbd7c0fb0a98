"""Tests of the policy for poison messages: the table of `assay_sdk.engine.deliveries.poison`."""

from __future__ import annotations

import pytest

from assay_sdk.driver import PeerProperties
from assay_sdk.engine.deliveries.failures import pause_ms
from assay_sdk.engine.deliveries.poison import NO_LIMIT, PoisonLimit, PoisonPolicy, Unmoved, limit_of
from assay_sdk.model.message import Address, AddressKind


def queue(name: str) -> Address:
    return Address(AddressKind.QUEUE, name)


TOLD: PeerProperties = {"x-opt-mq-bothresh": 3, "x-opt-mq-boqname": "BQ", "x-opt-mq-deadq": "DLQ"}
PARKED = queue("PARKED")
DISCARDED = Unmoved.REJECTED_IF_NON_PERSISTENT


@pytest.mark.parametrize(
    ("policy", "told", "limit"),
    [
        (PoisonPolicy(), {}, NO_LIMIT),
        (PoisonPolicy(move_to=PARKED), {}, NO_LIMIT),
        (PoisonPolicy(2), {}, PoisonLimit(2, (), Unmoved.REJECTED)),
        (PoisonPolicy(2, PARKED), {}, PoisonLimit(2, (PARKED,), Unmoved.KEPT)),
        (PoisonPolicy(), TOLD, PoisonLimit(3, (queue("BQ"), queue("DLQ")), DISCARDED)),
        (PoisonPolicy(move_to=PARKED), TOLD, PoisonLimit(3, (PARKED,), DISCARDED)),
        (PoisonPolicy(2, PARKED), TOLD, PoisonLimit(2, (PARKED,), Unmoved.KEPT)),
        (PoisonPolicy(2), TOLD, PoisonLimit(2, (), Unmoved.REJECTED)),
        (PoisonPolicy(0), TOLD, PoisonLimit(0, (), Unmoved.REJECTED)),
        (PoisonPolicy(), {**TOLD, "x-opt-mq-bothresh": "3"}, PoisonLimit(3, (queue("BQ"), queue("DLQ")), DISCARDED)),
        (PoisonPolicy(), {**TOLD, "x-opt-mq-boqname": ""}, PoisonLimit(3, (queue("DLQ"),), DISCARDED)),
        (PoisonPolicy(), {"x-opt-mq-bothresh": 1}, PoisonLimit(1, (), DISCARDED)),
        (PoisonPolicy(), {"x-opt-mq-bothresh": 0, "x-opt-mq-boqname": "BQ"}, NO_LIMIT),
        (PoisonPolicy(), {"x-opt-mq-bothresh": "-3"}, NO_LIMIT),
        (PoisonPolicy(), {"x-opt-mq-bothresh": "many"}, NO_LIMIT),
    ],
)
def test_the_application_counts_before_the_broker(
    policy: PoisonPolicy, told: PeerProperties, limit: PoisonLimit
) -> None:
    assert limit_of(policy, told) == limit


@pytest.mark.parametrize(("limit", "first"), [(1, 2), (3, 4)])
def test_a_message_is_poison_after_so_many_deliveries(limit: int, first: int) -> None:
    assert [PoisonLimit(limit).is_poison(count) for count in range(1, first + 2)] == [False] * limit + [True, True]


def test_without_a_limit_no_message_is_poison() -> None:
    assert not NO_LIMIT.is_poison(10**9)


def test_pauses_grow_from_none_to_ten_seconds() -> None:
    assert [pause_ms(failures) for failures in range(1, 10)] == [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000]
    assert pause_ms(10**6) == 10_000
