"""The record of a scenario's steps: the journal has each step that has run, with its outcome."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_bdd.exceptions import StepDefinitionNotFoundError
from pytest_bdd.parser import Feature, Scenario, Step

from assay_adapters.ports.backend import SharedFaultError
from assay_adapters.ports.outcome import JmsErrorKind, failure_of
from assay_evidence import events
from assay_steps.cast.faults import LostBrokerError
from assay_steps.cast.recording import SetupRefusedError
from assay_steps.plugin import checks
from assay_steps.plugin.cases import CASE
from assay_steps.plugin.stash_keys import FAILED_CHECK, JOURNAL, WORLD
from assay_steps.plugin.steps import own_checks
from assay_steps.plugin.steps.current_step import CURRENT_STEP
from assay_steps.plugin.steps.unknown import explain
from assay_steps.words.mistakes import MistakeError


class StepRecorder:
    """The pytest plugin that writes each step and its outcome into the journal.

    If a step fails, the plugin may also record a claim: for a failed check of a user's own Then-step, for a call in
    which the judged client raises an unexpected error, or for a judged broker that loses a queue or does not come back
    from a fault.
    """

    def pytest_bdd_before_step_call(
        self, request: pytest.FixtureRequest, step: Step, step_func: Callable[..., object]
    ) -> None:
        """Refuse a coroutine, note the step's sentence for its claims, and prepare a fault that will follow."""
        checks.refuse_coroutine(step_func)
        world = request.node.stash.get(WORLD, None)
        if world is not None:
            world.evidence.begin(step.name)
            case = request.node.stash[CASE]
            if step.line_number in case.meets:
                world.faults.meet()
            if step.line_number in case.slows:
                world.faults.slow_disk()
        current = request.node.stash.get(CURRENT_STEP, None)
        if current is not None:
            current.function = step_func

    def pytest_bdd_after_step(
        self, request: pytest.FixtureRequest, step: Step, step_func: Callable[..., object]
    ) -> None:
        """Record a finished step in the journal."""
        world = request.node.stash.get(WORLD, None)
        if world is not None and own_checks.checks_itself(step.type, step_func, world.evidence):
            own_checks.claim_check(world.evidence)
        self._step(request.node, step, "done", "")
        current = request.node.stash.get(CURRENT_STEP, None)
        if current is not None:
            current.end()

    def pytest_bdd_step_error(
        self, request: pytest.FixtureRequest, step: Step, step_func: Callable[..., object], exception: Exception
    ) -> None:
        """Record a failed step in the journal: a user's own failed check, a refusal by the pair, or an error."""
        if isinstance(exception, AssertionError) and self._failed_own_check(request.node, step, step_func, exception):
            return
        refused = isinstance(exception, SetupRefusedError)
        if isinstance(exception, SetupRefusedError):
            self._claim_of_client(request.node, exception)
            self._claim_of_queue(request.node, exception)
        if isinstance(exception, LostBrokerError):
            self._claim_of_broker(request.node, exception)
        shared = isinstance(exception, SharedFaultError)
        told = _told(exception, step, request.node)
        self._step(request.node, step, "refused" if refused else "broken", told, shared_fault=shared)

    def pytest_bdd_step_func_lookup_error(
        self, request: pytest.FixtureRequest, feature: Feature, scenario: Scenario, step: Step, exception: Exception
    ) -> None:
        """Record a step without a definition, which ends its scenario with an error."""
        del feature, scenario
        self._step(request.node, step, "broken", _told(exception, step, request.node))

    def outside(self, item: pytest.Item, problem: BaseException) -> None:
        """Record an error that no step's hook has recorded, so the journal alone gives the same verdict as pytest."""
        if problem is item.stash.get(FAILED_CHECK, None):
            return
        journal, step = item.stash[JOURNAL], item.stash[CURRENT_STEP].within
        function = item.stash[CURRENT_STEP].function
        is_check = isinstance(problem, pytest.fail.Exception)  # for these, pytest-bdd calls no step_error hook
        if step and function and is_check and self._failed_own_check(item, step, function, problem):
            return
        broken = any(isinstance(event, events.Step) and event.outcome != "done" for event in journal.events)
        if not broken:
            keyword, text = (step.keyword or step.type, step.name) if step else ("*", "between the steps")
            line = step.line_number if step else 0
            told = _told(problem, step, item)
            journal.write(
                events.Step,
                keyword=keyword,
                text=text,
                outcome="broken",
                detail=told,
                line=line,
                shared_fault=isinstance(problem, SharedFaultError),
            )

    def _failed_own_check(
        self, item: pytest.Item, step: Step, step_func: Callable[..., object], failure: BaseException
    ) -> bool:
        """Record the failed check of a user's own Then-step as a claim; return False for any other step."""
        world = item.stash.get(WORLD, None)
        if world is None or not own_checks.checks_itself(step.type, step_func, world.evidence):
            return False
        own_checks.claim_check(world.evidence, failure)
        item.stash[FAILED_CHECK] = failure
        self._step(item, step, "done", "")
        return True

    def _step(self, item: pytest.Item, step: Step, outcome: str, detail: str, *, shared_fault: bool = False) -> None:
        journal = item.stash.get(JOURNAL, None)
        world = item.stash.get(WORLD, None)
        if journal is not None:
            journal.write(
                events.Step,
                keyword=step.keyword or step.type,
                text=step.name,
                outcome=outcome,
                detail=detail,
                line=step.line_number,
                type=step.type,
                claims=() if world is None else tuple(world.evidence.made),
                shared_fault=shared_fault,
            )

    def _claim_of_client(self, item: pytest.Item, refused: SetupRefusedError) -> None:
        """Record a failing claim, because a call of the judged client raised an unexpected error or could not end."""
        world = item.stash.get(WORLD, None)
        failed = refused.call and failure_of(refused.refusal)
        if world is not None and failed and item.stash[CASE].judges_client:
            world.evidence.claim("accepted", {"call": refused.call})

    @staticmethod
    def _claim_of_queue(item: pytest.Item, refused: SetupRefusedError) -> None:
        """Claim that the judged broker has kept a queue, if the broker refuses a link to the queue after a fault.

        The claim is recorded only if the broker also refuses a second attempt (`World.attach_again`).
        """
        world = item.stash.get(WORLD, None)
        unknown = refused.call and refused.refusal.kind is JmsErrorKind.INVALID_DESTINATION
        if world is None or not unknown or not item.stash[CASE].judges_broker:
            return
        again = world.attach_again(refused.call)
        if again is not None and not again.accepted:
            world.evidence.claim("queue-kept", {"call": again.ref})

    def _claim_of_broker(self, item: pytest.Item, lost: LostBrokerError) -> None:
        """Record a failing claim, because the judged broker itself failed to come back from a fault."""
        world = item.stash.get(WORLD, None)
        if world is not None and item.stash[CASE].judges_broker:
            first_line = lost.said.partition("\n")[0]
            world.evidence.claim("comes-back", {"fault": lost.fault, "said": first_line[: own_checks.MOST_CHARACTERS]})


def _told(problem: BaseException, step: Step | None, item: pytest.Item) -> str:
    """Return the sentence for an error in the journal; for a mistake in a feature, with the feature and the line."""
    case = item.stash.get(CASE, None)
    is_mistake = isinstance(problem, MistakeError | StepDefinitionNotFoundError)
    place = f"{case.feature}:{step.line_number}: " if is_mistake and case is not None and step is not None else ""
    return f"{place}{sentence(problem, step)}"


def sentence(problem: BaseException, step: Step | None = None) -> str:
    """Return an error's text for journal and output; for a mistake in a feature, without the exception's class."""
    if isinstance(problem, StepDefinitionNotFoundError):
        return explain(step.type, step.name) if step else "the vocabulary has no such step"
    return str(problem) if isinstance(problem, MistakeError) else f"{type(problem).__name__}: {problem}"
