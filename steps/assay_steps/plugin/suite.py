"""Runs the suite from Python: pytest with the kit's own configuration, in any working folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from assay_steps.plugin.folder import LOG, make_room
from assay_steps.plugin.request import RunRequest
from assay_steps.processes.forking import CAN_FORK
from assay_steps.processes.garbage_collection import collect_rarely
from assay_steps.processes.interrupts import Interrupts

SUITE = Path(__file__).parents[1] / "scenarios"
"""The folder of the kit's test modules, as a path for pytest.

Without a path, pytest would load the conftest files of the working folder.
"""
INI = Path(__file__).parents[1] / "suite.ini"

PLUGINS = ("pytest_bdd.plugin", "assay_steps.entry")
XDIST = "xdist.plugin"
NO_OTHERS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""The environment variable that disables installed plugins.  A plugin that shuffles tests would change the run."""


class SuiteOptions(RunRequest, frozen=True, kw_only=True):
    """The request for `run_suite`; an option that is None keeps the plugin's default.

    Args:
        out: The folder of evidence.
        workers: The number of worker processes; 0 to run the scenarios in this process.
        pytest_args: Further arguments for pytest; test modules and feature files replace the suite's modules.
    """

    out: Path
    workers: int = 0
    pytest_args: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Return the arguments of pytest's command line."""
        given = {
            "backend": self.backend,
            "out": str(self.out),
            "profile": self.profile,
            "seed": str(self.seed),
            "store": self.store,
            "face": self.face,
            "defect": self.defect,
            "variant": self.variant,
            "late": self.late_ms,
        }
        options = [f"--assay-{name}={value}" for name, value in given.items() if value is not None]
        options += [f"--assay-rule={rule}" for rule in self.rules]
        options += [f"--assay-scenario={pattern}" for pattern in self.scenarios]
        options += [] if self.probes else ["--assay-no-probes"]
        workers = self._workers()
        names = (*PLUGINS, XDIST) if "-n" in workers else PLUGINS
        plugins = [argument for name in names for argument in ("-p", name)]
        own = [argument for argument in self.pytest_args if names_tests(argument)]
        suite = _like_pytest(own) if own else ("--confcutdir", str(SUITE), str(SUITE))
        place = ["-c", str(INI), "--rootdir", str(INI.parent), *suite]
        return [*plugins, *place, *options, *workers, *self.pytest_args]

    def _workers(self) -> list[str]:
        """Return pytest's arguments for several processes; none if `workers` is 0.

        The processes are forked if the system can fork and the request has no arguments for pytest. Otherwise they are
        pytest-xdist's workers, which start more slowly.
        """
        if not self.workers:
            return []
        if CAN_FORK and not self.pytest_args:
            return [f"--assay-forks={self.workers}"]
        return ["-n", str(self.workers), "--dist", "load"]


def _like_pytest(own: Sequence[str]) -> tuple[str, ...]:
    """Return pytest's options that give a user's tests the warning filters and import paths of a run without Assay."""
    folders = [str(folder) for argument in own for folder in _folders_of(Path(argument.partition("::")[0]).resolve())]
    return ("-o", "filterwarnings=default", "-o", f"pythonpath={shlex.join(dict.fromkeys(folders))}")


def _folders_of(path: Path) -> list[Path]:
    """Return a file's folder and the folders above it up to the working folder; each may have a conftest file."""
    return [folder for folder in path.parents if folder == path.parent or folder.is_relative_to(Path.cwd())]


def names_tests(argument: str) -> bool:
    """Return whether an argument for pytest names a user's feature or module; the kit's modules then do not run.

    Folders do not count, because a folder's name may also be the value of an option such as ``-k``.
    """
    path = Path(argument.partition("::")[0])
    return path.suffix in {".feature", ".py"} and path.is_file()


def run_suite(options: SuiteOptions, plugins: Sequence[object] = ()) -> pytest.ExitCode:
    """Run the suite; pytest's output goes to ``pytest.log`` in the folder of evidence.

    Args:
        options: The request.
        plugins: Further pytest plugins, such as a progress display.

    Returns:
        Pytest's exit code; INTERRUPTED if the user pressed Ctrl-C at any time.

    Raises:
        FolderError: The folder of evidence cannot be written, or holds a file that is not a run's output.
    """
    make_room(options.out)
    interrupts = Interrupts()
    with (
        interrupts,
        collect_rarely(),
        (options.out / LOG).open("w", encoding="utf-8") as log,
        redirect_stdout(log),
        redirect_stderr(log),
        environment_variable(NO_OTHERS, "1"),
    ):
        try:
            interrupts.allow()
            code = pytest.ExitCode(pytest.main(options.arguments(), plugins=[*plugins, interrupts]))
            interrupts.defer()
        except BaseException:  # may be Ctrl-C in the form of another exception
            interrupts.defer()
            if not interrupts.asked:
                raise
            # Ctrl-C came before pytest handled it, or Python dropped its exception.
            code = pytest.ExitCode.INTERRUPTED
    return pytest.ExitCode.INTERRUPTED if interrupts.asked else code


@contextmanager
def environment_variable(name: str, value: str) -> Generator[None, None, None]:
    """Set an environment variable for the `with` block and its child processes; then restore the former value."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
