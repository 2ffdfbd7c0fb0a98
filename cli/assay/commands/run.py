"""``assay run``: runs the suite on one or several backends."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest
import typer

from assay.commands.report import of_absent, show_report, write_reports
from assay.exits import CannotRunError, Exit, NothingSelected, UsageProblem
from assay.liveness.rules import PROFILE
from assay.messages import milliseconds
from assay.outcome import SEVERITY, covers_all, ending, others_failed, repeated, scenarios_of, show, tell
from assay.progress import RunProgress
from assay.selection import chosen, faces_of, folders, present
from assay.terminal import Terminal
from assay.workers import REFERENCE, with_workers
from assay_adapters.known import known_outcomes
from assay_adapters.leftovers import remove_before_a_run
from assay_evidence.verdicts import Verdicts
from assay_features import FeaturesError
from assay_reports import Absence, AbsenceState
from assay_steps.plugin.feature_files import feature_files
from assay_steps.plugin.folder import LOG, VERDICTS, room
from assay_steps.plugin.request import BackendUnavailableError
from assay_steps.plugin.run import Concluded
from assay_steps.plugin.run_result import RunResult, usage_error
from assay_steps.plugin.suite import SuiteOptions, names_tests, run_suite

STOPPED = "Ctrl-C, SIGTERM or SIGHUP"
_IDLE = frozenset({"--collect-only", "--co", "--fixtures", "--markers", "--setup-plan", "--version", "--help", "-h"})
"""The arguments with which pytest prints information and runs no scenario."""
_WORKERS = re.compile(r"-n(\d+|auto|logical)?|--numprocesses(=.*)?|--dist(=.*)?|-d")
"""The arguments with which pytest-xdist starts processes; only this command may decide about processes."""


def run(
    context: typer.Context,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            help="A broker to test; may be repeated, or a list with commas; all tests every broker that can be "
            "started here. Default: reference."
        ),
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Only rules of this profile.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule; may be repeated.")] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only the scenario with this id; * and ? match any characters; may be repeated."),
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, help="Run this many times, each into a folder of its own, and count the verdicts.")
    ] = 1,
    out: Annotated[Path, typer.Option(help="Folder for journals, verdicts and the report.")] = Path("assay-out"),
    workers: Annotated[
        int | None,
        typer.Option(
            min=0, help="Number of processes; 0 runs in this one. Default: by backend and number of scenarios."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices: a whole number.")] = 0,
    store: Annotated[
        str | None, typer.Option(help="The reference broker's store: sqlite (the default) or memory.")
    ] = None,
    face: Annotated[
        str | None,
        typer.Option(
            help="Face of the client: simplified (the default), classic or mqlight, or a list with commas. Scenarios "
            "that a face cannot run use another face; the summary counts them."
        ),
    ] = None,
    defect: Annotated[str | None, typer.Option(help="Switch on a named defect of the reference pair.")] = None,
    variant: Annotated[
        str | None, typer.Option(help="Switch on a tolerated variant of broker or client, which must pass, too.")
    ] = None,
    late: Annotated[
        str | None,
        typer.Option(help="How late a delayed message may arrive, such as 30s; a number is milliseconds. Default: 5s."),
    ] = None,
    pytest_args: Annotated[list[str] | None, typer.Argument(help="After --: arguments for pytest.")] = None,
) -> int:
    """Test the rules on a broker, print the verdicts, and write the evidence and a report."""
    if profile == PROFILE:
        from assay.commands.liveness import judge_heart_beats  # imported here, because no other run needs it

        return judge_heart_beats(context, backend or [], out)
    late_ms = milliseconds("--late", late)
    backends = chosen(backend or [REFERENCE])
    for_pytest = tuple(with_features(pytest_args or ()))
    asked = [
        SuiteOptions(
            out=folder,
            backend=name,
            profile=profile,
            rules=tuple(rule or ()),
            scenarios=tuple(scenario or ()),
            probes=not scenario,
            workers=workers or 0,
            seed=seed,
            store=store,
            face=one_face,
            defect=defect,
            variant=variant,
            late_ms=late_ms,
            pytest_args=for_pytest,
        )
        for name, one_face, folder in folders(backends, faces_of(face), times, out)
    ]
    asked, absent = present(asked, backends, check)
    if workers is None:
        asked = [with_workers(options) for options in asked]
    remove_before_a_run()
    with room(out):
        try:
            return try_all(asked, out, absent)
        except KeyboardInterrupt:
            if not any((options.out / VERDICTS).exists() for options in asked):
                raise
            told = f"stopped: {STOPPED}, before the report was complete; `assay report` writes it."
            Terminal().print(told, markup=False, soft_wrap=True)
            return Exit.INCONCLUSIVE


def with_features(arguments: Sequence[str]) -> Iterator[str]:
    """Replace each folder among pytest's arguments by its feature files.

    Args:
        arguments: The arguments after ``--``.

    Raises:
        UsageProblem: A path does not exist, or is not a feature, a test module or a folder with features.
    """
    by_module = "--pyargs" in arguments
    for before, argument in pairwise(("", *arguments)):
        # A path after an option stays as it is: it may be the option's value.
        if before.startswith("-") or not Path(argument).is_dir():
            if not before.startswith("-") and not argument.startswith("-") and not by_module:
                check_path(argument)
            yield argument
            continue
        files = feature_files(Path(argument))
        if not files:
            raise UsageProblem(
                f"{argument} holds no feature file: name a folder with .feature files, or a test module."
            )
        yield from map(str, files)


def check_path(argument: str) -> None:
    """Refuse a path for pytest that is neither a feature nor a test module.

    Raises:
        UsageProblem: The path does not exist, or is neither a feature nor a test module.
    """
    if Path(argument).is_file() and not names_tests(argument):
        text = "the name of a feature ends with .feature, of a test module with .py"
        raise UsageProblem(f"{argument} is not a feature: {text}.")
    if not Path(argument.partition("::")[0]).exists():
        raise UsageProblem(f"{argument} does not exist: name a feature, a folder of features or a test module.")


def check(options: SuiteOptions) -> None:
    """Refuse an impossible run before the command starts or writes anything.

    Raises:
        UsageProblem: A name in the options is unknown, or pytest's arguments are not possible here.
        FeaturesError: A rule or a profile is unknown.
        CannotRunError: The backend cannot be started on this machine.
        KnownOutcomesError: The backend's known outcomes are malformed.
    """
    ours = [argument for argument in options.pytest_args if argument.startswith("--assay-")]
    if ours:
        raise UsageProblem(f"{ours[0]} is an option of this command: give it before --, without 'assay-'.")
    for argument in options.pytest_args:
        if _WORKERS.fullmatch(argument):
            raise UsageProblem(
                f"{argument} conflicts with this command's own processes: give --workers NUMBER before --."
            )
    if idle := [argument for argument in options.pytest_args if argument in _IDLE]:
        raise UsageProblem(f"With {idle[0]} pytest runs no scenario, and the report would be empty: leave it out.")
    try:
        options.open()
    except BackendUnavailableError as problem:
        raise CannotRunError(str(problem)) from problem
    except FeaturesError:
        raise
    except LookupError as problem:
        raise UsageProblem(str(problem)) from problem
    known_outcomes(options.backend)


def try_all(asked: Sequence[SuiteOptions], out: Path, absent: Sequence[Absence] = ()) -> Exit:
    """Run the suite on one backend after the other; a backend that cannot run does not stop the others.

    Args:
        asked: The options of each run.
        out: The folder for the report.
        absent: The selected backends that cannot be started here.

    Raises:
        CommandError: No backend could run.
        KeyboardInterrupt: The user pressed Ctrl-C before any run had verdicts.
    """
    terminal = Terminal()
    for absence in absent:
        terminal.print(f"{absence.backend}: not tried: {absence.reason}", markup=False, soft_wrap=True)
    runs = Runs(absent, several=len(asked) + len(absent) > 1)
    for options in asked:
        runs.take(options, terminal)
    problem = runs.problem
    if problem is not None and not runs.tried:
        raise KeyboardInterrupt if isinstance(problem, StoppedError) else problem
    for line in repeated([concluded.verdicts for concluded in runs.tried.values()]):
        terminal.print(line, markup=False, soft_wrap=True)
    index = write_reports(runs.tried, out, runs.lost)
    if isinstance(problem, StoppedError) and (runs.stopped or not runs.several):
        terminal.print(f"stopped: {problem}", markup=False, soft_wrap=True)
    show_report(index, terminal)
    return runs.worst


class Runs:
    """Runs the suite on one backend after the other, and collects the results.

    Args:
        absent: The selected backends that cannot be started here.
        several: Whether the user asked for more than one run.
    """

    def __init__(self, absent: Sequence[Absence], *, several: bool) -> None:
        self.several = several
        self.tried: dict[Path, Concluded] = {}
        """The conclusion of each run, by the run's folder."""
        self.lost = list(absent)
        """The backends without verdicts."""
        self.worst = of_absent(absent)
        self.problem: CannotRunError | StoppedError | None = None
        """The reason why the latest incomplete run ended; None if all runs are complete."""

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the whole command; if a run ends for another reason, the next run follows."""
        return isinstance(self.problem, StoppedError) and self.problem.by_user

    def take(self, options: SuiteOptions, terminal: Terminal) -> None:
        """Run the suite on the next backend, unless the user has stopped the command."""
        ended = Exit.INCONCLUSIVE
        try:
            if self.stopped:
                self.lost.append(Absence(options.backend, AbsenceState.STOPPED, STOPPED))
            else:
                ended, self.tried[options.out] = try_one(options, terminal)
        except (CannotRunError, StoppedError) as problem:
            self.problem = problem
            self._keep(options, problem)
            if self.several and not self.stopped:
                how = "stopped" if options.out in self.tried else "not tried"
                terminal.print(f"{options.backend}: {how}: {problem}", markup=False, soft_wrap=True)
        self.worst = max(self.worst, ended, key=SEVERITY.index)

    def _keep(self, options: SuiteOptions, problem: CannotRunError | StoppedError) -> None:
        """Store the verdicts of an incomplete run.

        If the run has no verdicts and the user asked for several runs, store the reason and remove the run's folder.
        """
        if isinstance(problem, StoppedError) and problem.concluded is not None:
            self.tried[options.out] = problem.concluded
        elif self.several:
            shutil.rmtree(options.out, ignore_errors=True)
            state = AbsenceState.STOPPED if self.stopped else AbsenceState.BROKEN
            self.lost.append(Absence(options.backend, state, str(problem)))


def try_one(options: SuiteOptions, terminal: Terminal) -> tuple[Exit, Concluded]:
    """Run the suite on one backend, and print the verdicts.

    Returns:
        The exit code and the run's conclusion.

    Raises:
        CommandError: The suite could not run.
        StoppedError: The run was stopped.
    """
    started = time.perf_counter()
    stopped: StoppedError | None = None
    try:
        concluded = attempt(options)
    except StoppedError as stop:
        if stop.concluded is None:
            raise
        stopped, concluded = stop, stop.concluded
    verdicts = concluded.verdicts
    show(verdicts, terminal, seconds=time.perf_counter() - started)
    if stopped is not None:
        raise stopped
    surprises = known_outcomes(options.backend).surprises(
        scenarios_of(verdicts), datetime.now(UTC).date(), whole=covers_all(verdicts)
    )
    missing = [] if options.pytest_args else untried(options, verdicts)
    unjudged = others_failed(options.out)
    tell([*(one.text for one in surprises), *missing, *unjudged], terminal)
    ended = Exit.NOT_AS_EXPECTED if unjudged else ending(verdicts, surprises)
    return Exit.INCONCLUSIVE if missing and ended is Exit.AS_EXPECTED else ended, concluded


def untried(options: SuiteOptions, verdicts: Verdicts) -> list[str]:
    """Return one sentence for each rule that the user selected by its id and that has no scenario in the run."""
    tried = {rule.id for rule in verdicts.rules}
    return [f"{rule} has no scenario yet; leave it out." for rule in options.rules if rule not in tried]


class StoppedError(Exception):
    """A run was stopped before its end.

    Args:
        why: The reason for the stop.
        concluded: The journals up to the stop with their verdicts; None without verdicts.
        by_user: True if the user stopped the whole command; False if only this run ended early.
    """

    def __init__(self, why: str, concluded: Concluded | None, *, by_user: bool = False) -> None:
        super().__init__(why if concluded is None else f"{why}; the verdict of scenarios that did not run is error.")
        self.concluded = concluded
        self.by_user = by_user


def attempt(options: SuiteOptions) -> Concluded:
    """Run the suite once, and return its journals with their verdicts.

    Raises:
        UsageProblem: pytest's arguments are invalid or select no scenario.
        CannotRunError: The suite could not run.
        StoppedError: The run was stopped.
    """
    result = RunResult()
    with RunProgress(options.backend) as progress:
        code = run_suite(options, plugins=[progress, result])
    concluded = result.concluded
    empty = concluded is not None and not concluded.verdicts.scenarios
    if empty:
        (options.out / VERDICTS).unlink()  # verdicts without a scenario say nothing
        concluded = None
    if result.unreadable:
        raise UsageProblem(f"The scenarios cannot be read: {result.unreadable[0]}")
    match code:
        case pytest.ExitCode.OK | pytest.ExitCode.TESTS_FAILED if concluded is not None:
            return concluded
        case pytest.ExitCode.NO_TESTS_COLLECTED:
            raise NothingSelected(options.rules, own=any(map(names_tests, options.pytest_args)))
        case pytest.ExitCode.OK | pytest.ExitCode.TESTS_FAILED if empty:
            raise NothingSelected(options.rules, others=tuple(result.tried.values()))
        case pytest.ExitCode.USAGE_ERROR:
            raise UsageProblem(usage_error(options.out / LOG))
        case pytest.ExitCode.INTERRUPTED:
            raise StoppedError(STOPPED, concluded, by_user=True)
        case _ if concluded is not None:
            raise StoppedError(result.ended or f"pytest ended with {code.name}", concluded)
        case _:
            raise CannotRunError(result.ended or f"pytest ended with {code.name} and ran no scenario")
