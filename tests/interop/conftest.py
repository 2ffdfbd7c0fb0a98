"""Fixtures: in a session, each program judges each server once, with the checks of the selected tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.interop.programs import Line, Program, run
from tests.interop.servers import administered, artemis, as_it_comes


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest) -> Program:
    """Provide the program of a module."""
    found: Program = request.module.PROGRAM
    return found


@pytest.fixture(scope="module")
def command(program: Program, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the program in pytest's cache, if its source has changed, and return its command."""
    cache = pytestconfig.cache
    return program.built(Path(cache.mkdir("interop")) if cache is not None else tmp_path_factory.mktemp("interop"))


def chosen(request: pytest.FixtureRequest, function: str) -> list[str]:
    """Return the checks of the selected tests of a test function."""
    return [
        item.callspec.params["check"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path and item.originalname == function
    ]


@pytest.fixture(scope="module")
def of_artemis(request: pytest.FixtureRequest, command: list[str]) -> Mapping[str, Line]:
    """Return the program's results for Apache Artemis."""
    with artemis() as server:
        return run(command, server.options, chosen(request, "test_artemis_passes"))


@pytest.fixture(scope="module")
def of_ours(
    request: pytest.FixtureRequest, command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Line]:
    """Return the program's results for our server with its defaults."""
    with as_it_comes(tmp_path_factory.mktemp("open")) as server:
        return run(command, server.options, chosen(request, "test_our_server_passes"))


@pytest.fixture(scope="module")
def of_administered(
    request: pytest.FixtureRequest, program: Program, command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Line]:
    """Return the program's results for our server with users and an administrator."""
    checks = chosen(request, "test_our_administered_server_passes")
    with administered(tmp_path_factory.mktemp("administered"), program, checks) as server:
        return run(command, server.options, checks)
