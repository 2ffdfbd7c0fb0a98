"""The page about the delivery delay processor (`docs/processor.md`), made from the state tables."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.core.states.processor import PROCESSOR
from assay_broker.core.states.release import RELEASE
from tools.pages.state_tables import diagram, listing

_HEAD = """# The delivery delay processor

A delayed message is on the staging queue until its delay is over. The delivery delay processor then moves the message
to its target. One table for each platform describes the processor's states; another table describes the steps for a
single message. The core follows these tables (`assay_broker.core.states.processor`,
`assay_broker.core.states.release`); `make pages` draws this page from them.

## States of the processor

The inputs are:

- the condition of the staging queue: *available*, *put disabled*, or *unavailable* (not defined, or disabled for gets)
- a *failure* of the processor's worker or of the store
- the processor's own *restart*

The actions are:

- *open*: the processor opens the staging queue, and releases the messages whose delay is over
- *rest*: due messages stay on the staging queue
- *restart later*: the processor restarts by itself after a time (`Settings.retry_ms`)
- *stay*: nothing changes

The processor reads the condition at the start and after each change of the queue. If a state has no row for an input,
the input cannot happen in that state. A queue manager below level 8.0 has no processor, so messages stay on the staging
queue (DD-43).
"""

_PLATFORMS: Mapping[str, str] = {
    "distributed": """### On distributed platforms

The processor starts with the queue manager (DD-60), and restarts by itself after a failure (DD-65). PUT(DISABLED) on
the staging queue stops senders, not the processor.
""",
    "zos": """### On z/OS

The processor works while the staging queue is available (DD-61, DD-62), and PUT(DISABLED) on the queue stops it
(DD-64). After a failure it waits until an administrator disables PUT and enables it again (DD-63).
""",
}

_RELEASE = """## One message

When the message's delay is over, or when the message expires before that, the processor first plans all steps. It then
carries out the whole plan or no step of it (DD-70 to DD-77, DD-56, DD-57). If the plan is backed out, or if the store
refuses it, the message stays on the staging queue and the processor tries again later.

| result | meaning |
|---|---|
| refused | the target refuses the put |
| refused discard | the target refuses a message with the option MQRO_DISCARD_MSG |
| refused publication | the dead-letter queue refuses the copy for a subscription |
| refused persistent | the dead-letter queue refuses the report on a persistent message |
| gone | the subscription no longer exists |
| not asked | the message requests no report |

After *refused publication*, the result of a refused report is *refused*, even if the message is persistent.

The last step is *over* if the message has left the staging queue, and *kept* if it stays there.
"""


def processor_page() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for platform, table in PROCESSOR.items():
        first = next(state for state, _ in table)
        life = listing(table, ("state", "input", "next state", "action"))
        parts += [_PLATFORMS[platform], diagram(table, first), life]
    first_step = next(step for step, _ in RELEASE)
    steps = listing(RELEASE, ("step", "result", "next step", "effect on the plan"))
    parts += [_RELEASE, diagram(RELEASE, first_step), steps]
    return "\n".join(parts)
