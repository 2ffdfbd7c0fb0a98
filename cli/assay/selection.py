"""The backends, faces and folders of ``assay run``: lists with commas, `all`, and backends that cannot run here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from assay.exits import CannotRunError, UsageProblem
from assay_adapters.registry import UnusableBackendError, names_without_file
from assay_reports import Absence, AbsenceState
from assay_steps.plugin.suite import SuiteOptions

ALL = "all"
"""The word for every installed backend that needs no file."""
_NO_FOLDER = re.compile(r"[^A-Za-z0-9.+_-]+")
"""Matches characters of a backend's name, such as ``:`` and ``/``, that become a hyphen in the folder's name."""


class Chosen(Struct, frozen=True):
    """The backends that the user chose.

    Args:
        names: Their names, in the order of the runs.
        by_all: The names that only the word `all` chose; the command leaves out each of them that cannot run here.
    """

    names: tuple[str, ...]
    by_all: frozenset[str] = frozenset()

    @property
    def several(self) -> bool:
        """Whether each backend gets a folder of its own; true for `all`, even if only one backend is installed."""
        return len(self.names) > 1 or bool(self.by_all)


def chosen(values: Iterable[str]) -> Chosen:
    """Read the values of ``--backend``: names, lists with commas, and `all`.

    Args:
        values: The values, in the order of the command line.

    Raises:
        UsageProblem: A name is empty or occurs twice, or a list holds a backend with a file.
    """
    names: list[str] = []
    by_all: frozenset[str] = frozenset()
    for name in (one.removesuffix("+amqp") for value in values for one in _listed(value)):
        every = names_without_file() if name == ALL else (name,)
        if twice := [one for one in every if one in names]:
            _refuse_twice(twice[0], by_all=ALL in {name, *(() if not by_all else (ALL,))})
        names += every
        by_all = frozenset(every) if name == ALL else by_all
    return Chosen(tuple(names), by_all)


def _listed(value: str) -> list[str]:
    """Split a value at its commas, except at commas in the name of a backend's file."""
    if "," not in value:
        return [value]
    first, colon, rest = value.partition(":")
    if colon:
        if "," not in first and Path(rest).exists():
            return [value]
        raise UsageProblem(
            f"--backend {value} lists a backend with a file; give each of these its own option, such as --backend "
            "url:FILE --backend artemis."
        )
    names = [name.strip() for name in value.split(",")]
    if not all(names):
        raise UsageProblem(f"--backend {value!r} has a comma without a name beside it; write artemis,activemq.")
    return names


def _refuse_twice(name: str, *, by_all: bool) -> NoReturn:
    remedy = f"{ALL} already contains it" if by_all else "name it once, or repeat its run with --times 2"
    raise UsageProblem(f"--backend names {name!r} twice; {remedy}.")


def faces_of(value: str | None) -> list[str | None]:
    """Read the value of ``--face``: one face, a list with commas, or None for the default face.

    Raises:
        UsageProblem: A name is empty or occurs twice.
    """
    if value is None:
        return [None]
    faces = [name.strip() for name in value.split(",")]
    if not all(faces):
        raise UsageProblem(f"--face {value!r} has a comma without a name beside it; write simplified,mqlight.")
    if len(set(faces)) < len(faces):
        raise UsageProblem(f"--face {value!r} names a face twice; name it once.")
    return [*faces]


def folders(backends: Chosen, faces: Sequence[str | None], times: int, out: Path) -> list[tuple[str, str | None, Path]]:
    """Return each run's backend, face and folder: the output folder itself for one run, else a subfolder for each."""
    several = backends.several or len(faces) > 1 or times > 1
    found: list[tuple[str, str | None, Path]] = []
    for name in backends.names:
        for face in faces:
            words = [_NO_FOLDER.sub("-", name), *([face] if face and len(faces) > 1 else [])]
            for number in range(1, times + 1):
                folder = "-".join([*words, *([str(number)] if times > 1 else [])])
                found.append((name, face, out / folder if several else out))
    return found


def present(
    asked: Sequence[SuiteOptions], backends: Chosen, check: Callable[[SuiteOptions], None]
) -> tuple[list[SuiteOptions], list[Absence]]:
    """Separate the runs that can start from the backends that cannot be started on this machine.

    Args:
        asked: The options of each run.
        backends: The backends that the user chose.
        check: Refuses an impossible run.

    Returns:
        The runs that can start, and the backends that cannot.

    Raises:
        UsageProblem: A name in the options is unknown, or the options do not fit together.
        CannotRunError: None of the chosen backends can be started here.
    """
    absent: dict[str, Absence] = {}
    for options in {(one.backend, one.face): one for one in asked}.values():
        name = options.backend
        try:
            check(options)
        except CannotRunError as problem:
            if not backends.several:
                raise
            reason = str(problem)
        except UsageProblem as problem:
            if name not in backends.by_all or not isinstance(problem.__cause__, UnusableBackendError):
                raise
            reason = str(problem)
        else:
            continue
        state = AbsenceState.LEFT_OUT if name in backends.by_all else AbsenceState.MISSING
        absent[name] = Absence(name, state, reason)
    here = [one for one in asked if one.backend not in absent]
    if not here:
        raise CannotRunError(f"No backend can run here: {' '.join(one.reason for one in absent.values())}")
    return here, list(absent.values())
