"""The page of reason codes, made from their tables."""

from __future__ import annotations

from assay_sdk.model.command_reasons import COMMAND_MEANINGS
from assay_sdk.model.reasons import REASONS

_HEAD = """# Reasons

Why something is refused: numbers and names are IBM MQ's, the sentences are ours. Client and broker read one table, so a
refusal means the same on both sides of every wire. On AMQP the condition goes with the info map `x-opt-mqrc` (the
number) and `x-opt-mqrc-objects` (the names of the objects at fault); a peer without them is read by its condition
alone. The classic face of the SDK raises the checked exception of the class, the simplified face the runtime one, with
the same reason, objects and text.

`make pages` writes this page.

| reason | JMS error class | AMQP condition | meaning |
|---|---|---|---|
"""

_COMMANDS = """
## Of administrative commands

A command is refused for one of the reasons above or for one of these, which are IBM MQ's MQRCCF codes.

| reason | meaning |
|---|---|
"""


def reasons_page() -> str:
    """Return the page as Markdown."""
    reasons = (
        f"| `{code.label}` | {reason.kind.value} | `{reason.condition}` | {reason.meaning} |\n"
        for code, reason in REASONS.items()
    )
    commands = (f"| `{code.label}` | {meaning} |\n" for code, meaning in COMMAND_MEANINGS.items())
    return _HEAD + "".join(reasons) + _COMMANDS + "".join(commands)
