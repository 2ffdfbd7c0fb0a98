"""Steps about several queue managers: connections to them, and the stop and start of one of them.

``A`` is the first queue manager, which is the default of all steps; ``B`` is the second.
"""

from __future__ import annotations

from pytest_bdd import given, then, when

from assay_steps.cast.claims import Evidence
from assay_steps.cast.world import World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.words.parsing import phrase


@given(phrase("a connection {name:Name} to queue manager {member:Name}"))
def _(world: World, name: str, member: str) -> None:
    world.connections.connect(name, member=member).needed()


@when(phrase("queue manager {member:Name} is stopped"))
def _(world: World, member: str) -> None:
    world.administrator.stop(member).needed()
    world.connections.lose_member(world.names.member(member))


@when(phrase("queue manager {member:Name} is started again"))
def _(world: World, member: str) -> None:
    world.administrator.start(member).needed()


@then(phrase("the receiver sees {label:Name} in time after queue manager {member:Name} was started again"))
def _(world: World, evidence: Evidence, label: str, member: str) -> None:
    sent = world.messages[label]
    world.observe((RECEIVER,), (sent.key,))
    of = {
        "kid": sent.key,
        "call": sent.call,
        "actors": RECEIVER,
        "after": world.administrator.commands[f"start {member}"],
    }
    evidence.claim("by", of, {"limit_ms": world.limits.late_ms})
