"""Steps about branches of global units of work, in which sessions in XA mode work.

The transaction manager, which prepares, commits and rolls back, uses the connection of the branch's session.  If that
connection is closed or lost, the transaction manager opens its own connection.
"""

from __future__ import annotations

from pytest_bdd import given, then, when

from assay_adapters.ports.client import AckMode
from assay_steps.cast.branches import IN_DOUBT, NOT_IN_DOUBT, Branch, recover
from assay_steps.cast.claims import Evidence
from assay_steps.cast.recording import Answer
from assay_steps.cast.sessions import Session
from assay_steps.cast.world import World
from assay_steps.words.parsing import phrase

MANAGER = "transaction manager"


def _manager(world: World) -> Session:
    return world.session(MANAGER, AckMode.XA)


def _asker(world: World, branch: Branch) -> Session:
    return _manager(world) if branch.orphaned else branch.worker


@given(phrase("branch {branch:Name} has been started in session {session:Name}"))
@when(phrase("branch {branch:Name} is started in session {session:Name}"))
def _(world: World, branch: str, session: str) -> None:
    made = Branch(world.recorder, world.names.own(branch), world.sessions[session])
    world.branches[branch] = made
    made.start().needed()


@when(phrase("branch {branch:Name} is ended"))
def _(world: World, branch: str) -> None:
    world.branches[branch].end().needed()


@when(phrase("branch {branch:Name} is ended as failed"))
def _(world: World, branch: str) -> None:
    world.branches[branch].fail()


@when(phrase("branch {branch:Name} is suspended"))
def _(world: World, branch: str) -> None:
    world.branches[branch].suspend().needed()


@when(phrase("branch {branch:Name} is resumed"))
def _(world: World, branch: str) -> None:
    world.branches[branch].resume().needed()


@when(phrase("branch {branch:Name} is joined in session {session:Name}"))
def _(world: World, branch: str, session: str) -> None:
    world.branches[branch].join(world.sessions[session]).needed()


@when(phrase("branch {branch:Name} is prepared"))
def _(world: World, branch: str) -> None:
    one = world.branches[branch]
    answer = one.prepare(_asker(world, one))
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("branch {branch:Name} is committed"))
def _(world: World, branch: str) -> None:
    one = world.branches[branch]
    answer = one.commit(_asker(world, one))
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("branch {branch:Name} is committed in one phase"))
def _(world: World, branch: str) -> None:
    one = world.branches[branch]
    answer = one.commit(_asker(world, one), one_phase=True)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("branch {branch:Name} is rolled back"))
def _(world: World, branch: str) -> None:
    one = world.branches[branch]
    answer = one.rollback(_asker(world, one))
    world.last = Answer(answer.ref, answer.outcome)


def _recovered(world: World, evidence: Evidence, branch: str, state: str) -> None:
    answer = recover(world.recorder, _manager(world), world.branches.values())
    evidence.claim("equal-fields", {"at": answer.ref, f"field.{world.branches[branch].name}": state})


@then(phrase("branch {branch:Name} is in doubt"))
def _(world: World, evidence: Evidence, branch: str) -> None:
    _recovered(world, evidence, branch, IN_DOUBT)


@then(phrase("branch {branch:Name} is not in doubt"))
def _(world: World, evidence: Evidence, branch: str) -> None:
    _recovered(world, evidence, branch, NOT_IN_DOUBT)
