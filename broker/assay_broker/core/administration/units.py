"""The commands DISPLAY THREAD and RESOLVE INDOUBT, about branches of global units of work."""

from __future__ import annotations

from assay_broker.core.administration.changes import DisplayThreads, ResolveIndoubt
from assay_broker.core.clients.branches import Branch
from assay_broker.core.clients.xa_functions import IN_DOUBT, REMEMBERED, resolve_branch
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.objects.status import ThreadStatus
from assay_broker.core.state import State
from assay_broker.core.states.branches import BranchState
from assay_broker.core.turn import Turn
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.stepper import words


def display_threads(state: State, _turn: Turn, change: DisplayThreads) -> tuple[ThreadStatus, ...]:
    """Carry out DISPLAY THREAD: return the matching branches, in the order in which they began."""
    return tuple(
        _shown(branch)
        for branch in state.branches
        if change.name in {"*", branch.name} and (change.indoubt is None or change.indoubt == _as_indoubt(branch))
    )


def resolve_indoubt(state: State, turn: Turn, change: ResolveIndoubt) -> tuple[()]:
    """Carry out RESOLVE INDOUBT: commit or back out a branch in doubt in place of its transaction manager.

    Raises:
        RefusalError: The branch does not exist, or is not in doubt.
    """
    branch = next((one for one in state.branches if one.name == change.name), None)
    if branch is None:
        raise object_refusal(
            Mqrccf.UNKNOWN_OBJECT_NAME,
            f"There is no branch {change.name}; DISPLAY THREAD(*) shows all branches.",
            change.name,
        )
    if branch.state is not BranchState.PREPARED:
        raise object_refusal(
            Mqrccf.OBJECT_WRONG_TYPE,
            f"The branch {branch.name} is {words(branch.state)}, not in doubt.",
            branch.name,
        )
    resolve_branch(state, turn, branch, committed=change.committed)
    return ()


def _as_indoubt(branch: Branch) -> bool:
    """Return whether DISPLAY THREAD shows a branch as INDOUBT: the branch is in doubt, or an operator completed it."""
    return branch.state in IN_DOUBT | REMEMBERED


def _shown(branch: Branch) -> ThreadStatus:
    return ThreadStatus(
        branch.name,
        {
            "TYPE": "INDOUBT" if _as_indoubt(branch) else "ACTIVE",
            "STATE": words(branch.state).upper().replace(" ", ""),
            "OUTCOME": "" if branch.committed is None else "COMMIT" if branch.committed else "BACKOUT",
            "PUTS": len(branch.sent) or len(branch.puts),
            "GETS": len(branch.got) or len(branch.settled),
            "SINCE": branch.prepared_ms or 0,
        },
    )
