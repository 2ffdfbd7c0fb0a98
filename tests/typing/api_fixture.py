"""The types of the pytest fixture, as a user's type checker infers them; mypy and pyright check this file."""

from __future__ import annotations

from typing import assert_type

from assay_sdk import Context, Login, Queue, connect
from assay_steps import ReferenceBroker


def test_an_order_is_sent(reference_broker: ReferenceBroker) -> None:
    """Use the fixture like a user's test."""
    assert_type(reference_broker.url, str)
    assert_type(reference_broker.login, Login | None)
    assert_type(reference_broker.http_url, str | None)
    assert_type(reference_broker.admin, Login | None)
    with connect(reference_broker.url, login=reference_broker.login) as context:
        assert_type(context, Context)
        context.create_producer(Queue("ORDERS", str)).send("nails")


def wrong(reference_broker: ReferenceBroker) -> None:
    """Assign to frozen values and read an unknown attribute, which the type checkers must reject."""
    reference_broker.url = "amqp://127.0.0.1"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # must be seen
    reference_broker.port  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018  must be seen
