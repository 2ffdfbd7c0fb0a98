"""The page of reason codes, made from their tables."""

from __future__ import annotations

from assay_sdk.model.command_reasons import COMMAND_MEANINGS
from assay_sdk.model.reasons import REASONS

_HEAD = """# Reasons

The reason codes with which the client or the broker refuses a call. Numbers and names are IBM MQ's; the sentences are
the kit's. The client and the broker use the same table, so a reason has the same meaning on both sides.

Over AMQP, a refusal has the condition of its reason. The info of the condition has the number (`x-opt-mqrc`) and the
names of the objects at fault (`x-opt-mqrc-objects`). If the other side sends no such info, the condition alone
decides the error class. The classic face of the SDK raises the checked exception of the class, and the simplified
face the runtime exception. Reason, objects and text are the same in both.

`make pages` writes this page.

| reason | JMS error class | AMQP condition | meaning |
|---|---|---|---|
"""

_COMMANDS = """
## Administrative commands

A queue manager refuses an administrative command with one of the reasons above, or with one of these (IBM MQ's MQRCCF
codes).

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
