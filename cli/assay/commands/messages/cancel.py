"""``assay cancel``: cancels a delayed message."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.exits import Exit, UsageProblem
from assay.messages import connected
from assay.remote import Authority, RemoteManager, User, login
from assay.terminal import told
from assay_sdk import AckMode


def cancel(
    handle: Annotated[str, typer.Argument(help="Id of the message, from assay send or a receipt.", metavar="ID")],
    url: Annotated[
        str,
        typer.Option(
            help="URL of the broker, such as amqp://127.0.0.1:5672, or http://127.0.0.1:9443 for administrators."
        ),
    ] = "amqp://127.0.0.1:5672",
    user: User = None,
    ca: Authority = None,
) -> Exit:
    """Cancel a delayed message; exit 1 if the message is not on the staging queue."""
    if not handle.strip():
        raise UsageProblem("The id is empty: give the id that assay send printed.")
    if url.partition(":")[0].lower() in {"http", "https"}:
        with RemoteManager(url, login=login(user), authority=ca) as manager:
            taken = manager.take_staged(handle)
    else:
        with connected(url, login(user), ca, AckMode.AUTO) as context:
            taken = context.cancel(handle)
    if taken:
        return Exit.AS_EXPECTED
    return told(
        f"no delayed message {handle} is staged: it was delivered or cancelled, has expired, or had no delay.",
        Exit.NOT_AS_EXPECTED,
    )
