"""The pytest entry point: options, and a fixture that imports the broker only when a test requests it.

The kit itself takes part only if the command line has one of the `OPTIONS` or names the kit's scenario modules.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from assay_steps.plugin.reference_broker import ReferenceBroker


OPTIONS = (
    ("--assay-backend", {"metavar": "NAME", "help": "the broker to test (default: reference)"}),
    ("--assay-profile", {"metavar": "PROFILE", "help": "only rules of this profile"}),
    ("--assay-rule", {"metavar": "ID", "action": "append", "help": "only this rule; may be repeated"}),
    (
        "--assay-scenario",
        {"metavar": "ID", "action": "append", "help": "only scenarios with this id; * and ? match any characters"},
    ),
    ("--assay-out", {"metavar": "DIR", "help": "folder for journals and verdicts (default: assay-out)"}),
    ("--assay-seed", {"metavar": "N", "type": int, "help": "seed of all random choices (default: 0)"}),
    ("--assay-store", {"metavar": "STORE", "help": "the reference broker's store (default: sqlite)"}),
    ("--assay-face", {"metavar": "FACE", "help": "the client's face under test (default: simplified)"}),
    ("--assay-defect", {"metavar": "NAME", "help": "switch on a named defect of the reference pair"}),
    ("--assay-variant", {"metavar": "NAME", "help": "switch on a tolerated variant of the reference pair"}),
    (
        "--assay-late",
        {"metavar": "MS", "type": int, "help": "how late a delayed message may arrive (default: 5000)"},
    ),
    ("--assay-no-probes", {"action": "store_true", "help": "run no probes for capabilities"}),
    ("--assay-forks", {"metavar": "N", "type": int, "help": "number of processes to fork, for an in-process broker"}),
    ("--assay-run-id", {"metavar": "ID", "help": "the run's id (default: the time and random characters)"}),
)

PLACE = "reference-broker"
"""The name of the option, after ``--assay-``, for the place where the fixture's broker runs.

The configuration key is ``assay_`` and the same name with underscores.
"""
_NAME = f"assay_{PLACE.replace('-', '_')}"

NEEDS = MappingProxyType(
    {
        "in-process": (),
        "server": ("prometheus_client", "proton", "scramp", "starlette", "structlog", "uvicorn"),
        "container": ("proton", "scramp", "docker", "testcontainers"),
    }
)
"""The Python packages that the broker and its clients need, for each value of the option."""
_EXTRAS = MappingProxyType({"server": "server", "container": "amqp,containers"})
_PROJECTS = MappingProxyType({"proton": "python-qpid-proton"})
"""The names of packages for pip, where they differ from the names for import."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ``--assay-*`` options, and the configuration key for the place of the fixture's broker."""
    group = parser.getgroup("assay", "Assay: conformance of message brokers")
    for name, details in OPTIONS:
        group.addoption(name, default=None, **details)
    words = "in-process (its own clock), server (real sockets and time), or container"
    group.addoption(f"--assay-{PLACE}", metavar="WHERE", default=None, help=f"fixture reference_broker: {words}")
    parser.addini(_NAME, f"where reference_broker runs: {words}", default="in-process")


def asked_for(config: pytest.Config) -> bool:
    """Return whether one of the `OPTIONS`, or an argument that names ``assay_steps``, requests the kit."""
    named = any(config.getoption(name.lstrip("-").replace("-", "_")) is not None for name, _ in OPTIONS)
    return named or any("assay_steps" in argument for argument in config.args)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the kit's plugin if an option or argument requests the kit.

    Raises:
        pytest.UsageError: The place for the fixture's broker is unknown.
    """
    if _place(config) not in NEEDS:
        raise pytest.UsageError(f"{_NAME}: {_place(config)!r} is unknown; choose one of {', '.join(NEEDS)}.")
    if asked_for(config):
        from assay_steps.plugin.hooks import register

        register(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop before the first test if a test requests a broker whose packages are missing."""
    wanted = any("reference_broker" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not hasattr(session.config, "workerinput"):  # a worker of pytest-xdist cannot show the error
        lack = _lack(_place(session.config))
        if lack is not None:
            raise pytest.UsageError(lack)


def _place(config: pytest.Config) -> str:
    """Return the place where the fixture's broker runs, from the option or the configuration file."""
    return str(config.getoption(_NAME) or config.getini(_NAME))


def _lack(place: str) -> str | None:
    """Return an error text that names the packages missing for a place; None if all are installed."""
    missing = [_PROJECTS.get(name, name) for name in NEEDS[place] if find_spec(name) is None]
    if not missing:
        return None
    them = "it" if len(missing) == 1 else "them"
    return f"{_NAME}: a {place} needs {_listed(missing)}: install {them} with pip install 'assay-mq[{_EXTRAS[place]}]'"


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


@pytest.fixture
def reference_broker(request: pytest.FixtureRequest) -> Generator[ReferenceBroker]:
    """Start a fresh reference broker for a test: ``connect(reference_broker.url, login=reference_broker.login)``.

    The fixture's type is ``assay_steps.ReferenceBroker``.
    """
    place = _place(request.config)
    lack = _lack(place)
    if lack is not None:
        pytest.fail(lack, pytrace=False)
    from assay_steps.plugin.reference_broker import PLACES

    with PLACES[place]() as broker:
        yield broker
