"""The suite as a call: pytest with the kit's own configuration, whatever folder it is started in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from msgspec import Struct

from assay_steps.folder import LOG, make_room

SUITE = "assay_steps.scenarios"
INI = Path(__file__).with_name("suite.ini")


class SuiteOptions(Struct, frozen=True, kw_only=True):
    """What `run_suite` runs; None leaves the plugin's default.

    Args:
        out: The folder of evidence.
        backend: The backend's name.
        profile: Only rules of this profile.
        rules: Only these rules.
        workers: How many processes; 0 for this one.
        seed: Seed of whatever is random.
        store: Which store the reference broker uses.
        face: The client's face.
        defect: A named defect.
        pytest_args: What goes to pytest as it is.
    """

    out: Path
    backend: str = "reference"
    profile: str | None = None
    rules: tuple[str, ...] = ()
    workers: int = 0
    seed: int = 0
    store: str | None = None
    face: str | None = None
    defect: str | None = None
    pytest_args: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Pytest's command line."""
        given = {
            "backend": self.backend,
            "out": str(self.out),
            "profile": self.profile,
            "seed": str(self.seed),
            "store": self.store,
            "face": self.face,
            "defect": self.defect,
        }
        options = [f"--assay-{name}={value}" for name, value in given.items() if value is not None]
        options += [f"--assay-rule={rule}" for rule in self.rules]
        workers = ["-n", str(self.workers), "--dist", "loadgroup"] if self.workers else ["-p", "no:xdist"]
        return ["-c", str(INI), "--rootdir", str(INI.parent), "--pyargs", SUITE, *options, *workers, *self.pytest_args]


def run_suite(options: SuiteOptions, plugins: Sequence[object] = ()) -> pytest.ExitCode:
    """Run the suite; pytest's own words go to ``pytest.log`` in the folder of evidence.

    Args:
        options: What to run.
        plugins: Further pytest plugins, such as a progress display.
    """
    make_room(options.out)
    with (options.out / LOG).open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
        return pytest.ExitCode(pytest.main(options.arguments(), plugins=list(plugins)))
