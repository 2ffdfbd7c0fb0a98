from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay_broker.core.messages.entries import Entry
from assay_broker.core.queues.copies import Copies, weight
from assay_sdk.model.message import Message


def entry(key: int, size: int) -> Entry:
    return Entry(
        key=key,
        home="queue://Q",
        message=Message(body="x" * size),
        priority=4,
        recorded=False,
        arrived_ms=0,
        expires_ms=None,
        due_ms=None,
    )


@given(st.lists(st.tuples(st.sampled_from(["come", "go", "clear"]), st.integers(0, 5), st.integers(0, 100))))
def test_what_copies_take_is_the_sum_of_what_each_takes(steps: list[tuple[str, int, int]]) -> None:
    copies = Copies()
    for what, key, size in steps:
        match what:
            case "come" if key not in copies:
                copies.add(entry(key, size))
            case "come":
                copies.add(copies[key])
            case "go":
                copies.discard(key)
            case "clear":
                copies.clear()
            case _:
                pass
        assert copies.octets == sum(weight(one) for one in copies.values())
