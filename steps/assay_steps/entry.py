"""The pytest entry point: options, and a fixture that nothing is imported for until a test asks for it.

The kit itself is inert until one of the options, or our scenario modules, is named.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from assay_steps.double import ReferenceBroker

OPTIONS = (
    ("--assay-backend", {"metavar": "NAME", "help": "the broker to try the rules on (default: reference)"}),
    ("--assay-profile", {"metavar": "PROFILE", "help": "only rules of this profile"}),
    ("--assay-rule", {"metavar": "ID", "action": "append", "help": "only this rule; may be repeated"}),
    ("--assay-out", {"metavar": "DIR", "help": "folder for journals and verdicts (default: assay-out)"}),
    ("--assay-seed", {"metavar": "N", "type": int, "help": "seed of whatever is random (default: 0)"}),
    ("--assay-store", {"metavar": "STORE", "help": "the reference broker's store (default: memory)"}),
    ("--assay-face", {"metavar": "FACE", "help": "the client's face under test (default: simplified)"}),
    ("--assay-defect", {"metavar": "NAME", "help": "switch a named defect of the reference pair on"}),
    ("--assay-forks", {"metavar": "N", "type": int, "help": "processes forked from this one, for a broker within it"}),
    ("--assay-run-id", {"metavar": "ID", "help": "the run's id (default: made from time and chance)"}),
)

PLACE = "reference-broker"
"""The option, and the line in a configuration file, for where the fixture's broker runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ``--assay-*`` options."""
    group = parser.getgroup("assay", "Assay: conformance of message brokers")
    for name, details in OPTIONS:
        group.addoption(name, default=None, **details)
    words = "in-process (its own clock), server (real sockets and time), or container"
    group.addoption(f"--assay-{PLACE}", metavar="WHERE", default=None, help=f"fixture reference_broker: {words}")
    parser.addini(f"assay_{PLACE.replace('-', '_')}", f"where reference_broker runs: {words}", default="in-process")


def asked_for(config: pytest.Config) -> bool:
    """Whether this pytest run wants the kit."""
    named = any(config.getoption(name.lstrip("-").replace("-", "_")) is not None for name, _ in OPTIONS)
    return named or any("assay_steps" in argument for argument in config.args)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Bring the kit in when it is asked for."""
    if asked_for(config):
        from assay_steps.plugin import register

        register(config)


@pytest.fixture
def reference_broker(request: pytest.FixtureRequest) -> Generator[ReferenceBroker]:
    """A fresh reference broker: ``connect(reference_broker.url, login=reference_broker.login)``."""
    from assay_steps.double import PLACES

    name = f"assay_{PLACE.replace('-', '_')}"
    place = request.config.getoption(name) or request.config.getini(name)
    if place not in PLACES:
        raise pytest.UsageError(f"{name}: there is no {place!r}; there is {', '.join(PLACES)}.")
    with PLACES[place]() as broker:
        yield broker
