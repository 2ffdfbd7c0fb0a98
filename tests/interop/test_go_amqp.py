"""Tests of go-amqp (Go) with our server and with Apache Artemis: each check of the program is a test."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.interop.programs import GO_AMQP, Line
from tests.interop.servers import ADMINISTERED, ARTEMIS, OPEN

PROGRAM = GO_AMQP

pytestmark = pytest.mark.interop


@pytest.mark.docker
@pytest.mark.proof
@pytest.mark.parametrize("check", PROGRAM.checks_for(ARTEMIS))
def test_artemis_passes(check: str, of_artemis: Mapping[str, Line]) -> None:
    """A pass on Artemis shows that the check is right."""
    assert of_artemis[check].ok, of_artemis[check].detail


@pytest.mark.parametrize("check", PROGRAM.checks_for(OPEN))
def test_our_server_passes(check: str, of_ours: Mapping[str, Line]) -> None:
    assert of_ours[check].ok, of_ours[check].detail


@pytest.mark.parametrize("check", PROGRAM.checks_for(ADMINISTERED, but=OPEN))
def test_our_administered_server_passes(check: str, of_administered: Mapping[str, Line]) -> None:
    assert of_administered[check].ok, of_administered[check].detail


def test_the_list_names_all_checks(command: list[str]) -> None:
    assert PROGRAM.listed(command) == PROGRAM.checks
