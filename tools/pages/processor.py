"""The page of the delivery delay processor, drawn from its tables."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.core.states.processor import PROCESSOR
from assay_broker.core.states.release import RELEASE
from tools.pages.state_tables import diagram, listing

_HEAD = """# The delivery delay processor

A delayed message stands on the staging queue until its delay is over. The delivery delay processor then moves it to its
target. One table describes the processor's life, which depends on the platform; another one describes what becomes of a
single message. The core steps through these tables (`assay_broker.core.states.processor`,
`assay_broker.core.states.release`); `make pages` draws this page from them.

## Its life

The inputs are the condition of the processor's queue (*available*; *put disabled*; *unavailable*: not defined, or
disabled for gets), a *failure* of its worker or of the store, and its own *restart*. The processor looks at its queue
at the start and whenever the queue is changed. An input that a state lacks cannot happen in that state. A queue manager
below level 8.0 has no processor, so staged messages stay where they are (DD-43).
"""

_PLATFORMS: Mapping[str, str] = {
    "distributed": """### On distributed platforms

It starts with the queue manager (DD-60) and starts again by itself after a failure (DD-65). Puts that are disabled
stop senders, not the processor.
""",
    "zos": """### On z/OS

It closes and opens with its queue (DD-61, DD-62) and is stopped by PUT(DISABLED) (DD-64). After a failure it waits
until PUT was disabled and is enabled again (DD-63).
""",
}

_RELEASE = """## One message

When its delay is over, or it expires before, the steps are planned first and carried out then, altogether or not at
all: a plan that is backed out leaves the message staged, to be tried again later, and so does a store that refuses it
(DD-70 to DD-77, DD-56, DD-57). *Refused discard* is a message that asks to be discarded (MQRO_DISCARD_MSG),
*refused publication* the copy for a subscription, *refused persistent* the report on a persistent message, except on a
publication that was given up (DD-77); *gone* is a subscription that is no longer there.
"""


def processor_page() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for platform, table in PROCESSOR.items():
        first = next(state for state, _ in table)
        life = listing(table, ("state", "input", "next state", "action"))
        parts += [_PLATFORMS[platform], diagram(table, first), life]
    first_step = next(step for step, _ in RELEASE)
    steps = listing(RELEASE, ("step", "result", "next step", "what was planned"))
    parts += [_RELEASE, diagram(RELEASE, first_step), steps]
    return "\n".join(parts)
