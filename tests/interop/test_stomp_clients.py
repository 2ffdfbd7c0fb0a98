"""Tests of public STOMP clients with our server: each check of each program is a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.interop.programs import STOMP_PROGRAMS, Line, Program, run
from tests.interop.servers import over_stomp

pytestmark = pytest.mark.interop

Build = Callable[[Program], list[str]]
CASES = [
    pytest.param(program, check.name, id=f"{program.name}-{check.name}")
    for program in STOMP_PROGRAMS
    for check in program.checks
]


@pytest.fixture(scope="module")
def build(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Provide the function that builds a program in pytest's cache and returns its command."""
    kept = pytestconfig.cache
    place = Path(kept.mkdir("interop")) if kept is not None else tmp_path_factory.mktemp("interop")
    return lambda program: program.built(place)


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, build: Build, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Program], Mapping[str, Line]]:
    """Provide the results of a program; each runs once, with the checks of the selected tests."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and item.path == request.path]
    params = [item.callspec.params for item in items if item.originalname == "test_our_server_passes"]

    def found(program: Program) -> Mapping[str, Line]:
        command = build(program)
        with over_stomp(tmp_path_factory.mktemp(program.name)) as server:
            return run(command, server.options, [one["check"] for one in params if one["program"] == program])

    return cache(found)


@pytest.mark.parametrize(("program", "check"), CASES)
def test_our_server_passes(program: Program, check: str, results: Callable[[Program], Mapping[str, Line]]) -> None:
    line = results(program)[check]
    assert line.ok, line.detail


@pytest.mark.parametrize("program", STOMP_PROGRAMS, ids=lambda program: program.name)
def test_the_list_names_all_checks(program: Program, build: Build) -> None:
    assert program.listed(build(program)) == program.checks
