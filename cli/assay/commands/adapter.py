"""``assay adapter``: writes a file that describes a broker, and checks such a file for mistakes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.exits import CannotRunError, Exit, UsageProblem
from assay.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay_adapters.brokers.url.file import Mistake

adapter = typer.Typer(help="Test any broker by a file: write the file, and check it.", no_args_is_help=True)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@adapter.command()
def new(
    name: Annotated[str, typer.Argument(help="The broker's name; the file is NAME.toml in this folder.")],
) -> Exit:
    """Write a file that describes a broker; a comment explains each key of the file."""
    from assay_adapters.brokers.url.template import text_for

    plain = name.removesuffix(".toml")
    if not _NAME.fullmatch(plain):
        raise UsageProblem(f"{name!r} is no name for a file: use letters, digits, '-' and '_', such as acme.")
    file = Path(f"{plain}.toml")
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text_for(plain))
    except FileExistsError as problem:
        raise UsageProblem(f"{file} exists and is left as it is: choose another name, or remove the file.") from problem
    except OSError as problem:
        raise CannotRunError(f"{file} cannot be written ({problem.strerror}): choose another folder.") from problem
    _say(
        f"{file} is written: fill in the address, the version and the capabilities (docs/url.md),"
        f" then run `assay adapter check {file}`."
    )
    return Exit.AS_EXPECTED


@adapter.command()
def check(
    file: Annotated[Path, typer.Argument(help="The file that describes a broker.")],
    connect: Annotated[
        bool, typer.Option("--connect/--no-connect", help="Whether to try the broker, too. Default: yes.")
    ] = True,
) -> Exit:
    """Check a file that describes a broker, try to reach the broker, and print each mistake as one sentence."""
    from assay_adapters.brokers.url.file import DescriptionError
    from assay_adapters.brokers.url.trial import examine, try_out

    try:
        reading, mistakes, absences = examine(file)
    except DescriptionError as problem:
        raise UsageProblem(str(problem)) from problem
    _tell(file, mistakes)
    if mistakes or reading.description is None:
        return Exit.USAGE
    _tell(file, absences)
    if absences:
        return Exit.INCONCLUSIVE
    what = f"{reading.description.title} {reading.description.version}"
    if connect:
        troubles = try_out(file, reading)
        _tell(file, troubles)
        if troubles:
            return Exit.INCONCLUSIVE
        what = f"{what} answers"
    else:
        what = f"{what} was not tried"
    count = len(reading.description.capabilities)
    _say(f"{file} has no mistake: {what}; {count} {'capability' if count == 1 else 'capabilities'} declared.")
    _say(f"Next: assay run --backend url:{file} --rule PD-01 --out {file.stem}-out")
    return Exit.AS_EXPECTED


def _tell(file: Path, mistakes: Iterable[Mistake]) -> None:
    for mistake in mistakes:
        _say(f"{file}:{mistake.line}: {mistake.text}")


def _say(text: str) -> None:
    Terminal().print(text, markup=False, soft_wrap=True)
