"""A campaign: chooses mutants, tries them, and collects the results."""

from __future__ import annotations

import difflib
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from assay_steps.plugin.suite import SuiteOptions, run_suite
from tools.mutation.coverage_map import CoverageMap, digest
from tools.mutation.mutants import Key, Module, Mutant
from tools.mutation.nearness import MutantContext
from tools.mutation.score import CONVICTED, Result
from tools.mutation.targets import PACKAGES, ROOT, modules_of
from tools.mutation.triage import Triage
from tools.mutation.trials import Job, Outcome, Trials

LONGEST_DIFF = 4000


class Plan(Struct, frozen=True):
    """The choice of mutants and the options of their trials.

    Args:
        modules: Only mutants of these modules, or of functions of them (`module:function`); empty for all.
        packages: Only mutants of these packages; empty for all.
        sample: The largest number of mutants; None for all.
        seed: The seed that chooses the sample.
        names: Only mutants with these names; empty for all.
        jobs: The number of processes at a time.
        most: The largest number of scenarios for one mutant; None for all scenarios that run the mutant's line.
        every: Use every n-th scenario of the suite only: the measurement of the lines of all scenarios takes longer
            than the trials of a few hundred mutants.
        each: Whether to take a sample of the size `sample` from each package; False to take one sample from all
            packages together.
        cache: The folder with the stored coverage of the scenarios.
    """

    modules: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    names: tuple[str, ...] = ()
    jobs: int = 2
    most: int | None = None
    every: int = 1
    each: bool = False
    cache: Path = ROOT / ".mutation"


class _Chosen(Struct, frozen=True):
    package: str
    file: Path
    key: Key


def campaign(plan: Plan, triage: Triage, told: Callable[[Result], None]) -> list[Result]:
    """Try the mutants of a plan.

    Args:
        plan: The plan.
        triage: The classes and reasons of known survivors.
        told: Called with each result as soon as it is known.

    Returns:
        The results, in the order of packages and modules.
    """
    chosen = choose(plan)
    results: list[Result] = []

    def keep(result: Result) -> None:
        results.append(result)
        told(result)

    for store in dict.fromkeys(package.store for package in PACKAGES):
        names = {package.name for package in PACKAGES if package.store == store}
        mutants = [one for one in chosen if one.package in names]
        if mutants:
            _Session(plan, triage, store, mutants, keep).run()
    order = {one.key: number for number, one in enumerate(chosen)}
    names_in_order = {str(key): number for key, number in order.items()}
    return sorted(results, key=lambda result: names_in_order[result.mutant])


def choose(plan: Plan) -> list[_Chosen]:
    """Return the mutants of a plan, in the order of packages and modules."""
    wanted = [
        (package.name, name, file)
        for package in PACKAGES
        if not plan.packages or package.name in plan.packages
        for name, file in modules_of(package)
        if not plan.modules or any(one.partition(":")[0] == name for one in plan.modules)
    ]
    with ProcessPoolExecutor(plan.jobs, mp_context=get_context("fork")) as pool:
        found = list(pool.map(_keys, wanted))
    mutants = [one for some in found for one in some if _is_wanted(one.key, plan)]
    if not plan.each:
        return _sampled(mutants, plan)
    groups = ([one for one in mutants if one.package == package.name] for package in PACKAGES)
    return [one for group in groups for one in _sampled(group, plan)]


def _sampled(mutants: list[_Chosen], plan: Plan) -> list[_Chosen]:
    if plan.sample is None or plan.sample >= len(mutants):
        return mutants
    picked = random.Random(plan.seed).sample(range(len(mutants)), plan.sample)  # noqa: S311 - no secret
    return [mutants[number] for number in sorted(picked)]


def _is_wanted(key: Key, plan: Plan) -> bool:
    functions = [one for one in plan.modules if ":" in one]
    if functions and f"{key.module}:{key.function}" not in functions:
        return False
    return not plan.names or str(key) in plan.names


def _keys(wanted: tuple[str, str, Path]) -> list[_Chosen]:
    package, name, file = wanted
    return [_Chosen(package, file, mutant.key) for mutant in Module(name, file).mutants]


class _Session:
    """A pytest session that tries the mutants of all packages with the same store."""

    def __init__(
        self, plan: Plan, triage: Triage, store: str, mutants: Sequence[_Chosen], keep: Callable[[Result], None]
    ) -> None:
        self._plan = plan
        self._triage = triage
        self._store = store
        self._mutants = mutants
        self._keep = keep
        self._waiting: list[tuple[_Chosen, str, str, int]] = []
        """For each job: the mutant, the module's text before and after the change, and the first changed line."""

    def run(self) -> None:
        """Run pytest on the suite with the plugin `Trials`, which tries mutants in place of a normal run."""
        files = [file for package in PACKAGES if package.store == self._store for _, file in modules_of(package)]
        with tempfile.TemporaryDirectory(prefix="assay-mutation-") as folder:
            options = SuiteOptions(out=Path(folder) / "out", store=self._store, pytest_args=())
            trials = Trials(
                lambda trials: self._try(trials, files), files, self._plan.jobs, self._plan.most, self._plan.every
            )
            code = run_suite(options, plugins=[trials])
            if code is pytest.ExitCode.USAGE_ERROR or not trials.done:
                log = (options.out / "pytest.log").read_text(encoding="utf-8")
                raise RuntimeError(f"the scenarios could not be run: {log[-2000:]}")

    def _try(self, trials: Trials, files: Sequence[Path]) -> None:
        lines = self._lines(trials, files)
        trials.try_all(self._jobs(), lines, self._note)

    def _lines(self, trials: Trials, files: Sequence[Path]) -> CoverageMap:
        kept = self._plan.cache / f"{self._store}-{digest(self._store)}-{self._plan.every}.json"
        if kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=CoverageMap)
        lines = trials.count_lines(files)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.encode(lines))
        return lines

    def _jobs(self) -> Iterator[Job]:
        module: Module | None = None
        for chosen in self._mutants:
            if module is None or module.path != chosen.file:
                module = Module(chosen.key.module, chosen.file)
            mutant = next(found for found in module.mutants if found.key == chosen.key)
            applied = module.apply(mutant)
            if applied is not None:
                self._waiting.append((chosen, module.text, applied.text, mutant.first))
                function = f"{chosen.key.module}:{chosen.key.function}"
                yield Job(chosen.file, applied, function, mutant.first, mutant.last, _near(chosen, module, mutant))

    def _note(self, number: int, outcome: Outcome) -> None:
        chosen, before, after, line = self._waiting[number]
        key = chosen.key
        convicted = outcome.status == CONVICTED
        group = None if convicted else self._triage.of(str(key))
        self._keep(
            Result(
                mutant=str(key),
                package=chosen.package,
                module=key.module,
                function=key.function,
                operator=key.operator,
                line=line,
                status=outcome.status,
                triage="" if group is None else group.kind.value,
                reason=outcome.reason if group is None else group.reason,
                scenario=outcome.scenario,
                tried=outcome.tried,
                covering=outcome.covering,
                seconds=outcome.seconds,
                diff="" if convicted else diff_of(chosen.file, before, after),
            )
        )


def _near(chosen: _Chosen, module: Module, mutant: Mutant) -> MutantContext:
    first, last = mutant.body
    text = "\n".join(module.text.splitlines()[first - 1 : last])
    key = mutant.key
    return MutantContext.of(chosen.file.relative_to(ROOT).as_posix(), mutant.body, key.was, key.function, text)


def diff_of(file: Path, before: str, after: str) -> str:
    """Return the change as a unified diff."""
    name = file.relative_to(ROOT).as_posix()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=2)
    return "\n".join(lines)[:LONGEST_DIFF]
