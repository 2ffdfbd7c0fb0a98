"""The pytest entry point: options only, and inert until one of them, or our scenario modules, is named."""

from __future__ import annotations

import pytest

OPTIONS = (
    ("--assay-backend", {"metavar": "NAME", "help": "the broker to try the rules on (default: reference)"}),
    ("--assay-profile", {"metavar": "PROFILE", "help": "only rules of this profile"}),
    ("--assay-rule", {"metavar": "ID", "action": "append", "help": "only this rule; may be repeated"}),
    ("--assay-out", {"metavar": "DIR", "help": "folder for journals and verdicts (default: assay-out)"}),
    ("--assay-seed", {"metavar": "N", "type": int, "help": "seed of whatever is random (default: 0)"}),
    ("--assay-store", {"metavar": "STORE", "help": "the reference broker's store (default: memory)"}),
    ("--assay-face", {"metavar": "FACE", "help": "the client's face under test (default: simplified)"}),
    ("--assay-defect", {"metavar": "NAME", "help": "switch a named defect of the reference pair on"}),
    ("--assay-run-id", {"metavar": "ID", "help": "the run's id (default: made from time and chance)"}),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ``--assay-*`` options."""
    group = parser.getgroup("assay", "Assay: conformance of message brokers")
    for name, details in OPTIONS:
        group.addoption(name, default=None, **details)


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
