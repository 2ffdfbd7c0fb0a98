"""The log of a server: one event on each line of standard error, as text or as JSON.

The modules of the broker log through the standard library or through `get_logger`.  structlog writes their events and
the warnings of asyncio and uvicorn.  Of a client's data, the log shows names only, shortened and without control
characters, so that no client can forge a line.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from assay_broker.server.files import LogForm

LONGEST = 500
"""The most characters of a value that the log shows."""

SECRET = frozenset({"authorization", "body", "content", "cookie", "credentials", "key", "octets", "password", "token"})
"""The keys of events whose values the log never shows."""

_OURS = ("assay_broker", "assay_sdk")
_OTHERS = ("asyncio", "uvicorn.error")
"""The libraries of which the log shows only warnings and errors."""

_Event = MutableMapping[str, Any]


def set_up(form: LogForm | None = None, stream: TextIO | None = None) -> logging.Handler:
    """Configure the log of this process.

    Args:
        form: JSON or console; None for console on a terminal and JSON elsewhere.
        stream: The output; None for standard error.

    Returns:
        The handler that writes the log, for `take_down`.
    """
    target = stream or sys.stderr
    people = form == "console" or (form is None and target.isatty())
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_CHAIN,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(_FOR_PEOPLE if people else _FOR_MACHINES),
                structlog.dev.ConsoleRenderer(colors=people and target.isatty())
                if people
                else structlog.processors.JSONRenderer(),
            ],
        )
    )
    for name, level in (*((one, logging.INFO) for one in _OURS), *((one, logging.WARNING) for one in _OTHERS)):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(level)
        logger.propagate = False
    return handler


def take_down(handler: logging.Handler) -> None:
    """Undo `set_up`: remove its handler and restore the loggers.

    Args:
        handler: The handler that `set_up` returned.
    """
    for name in (*_OURS, *_OTHERS):
        logger = logging.getLogger(name)
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True
    handler.close()


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a structlog logger, whose events can have key-value pairs.

    Args:
        name: The name of the module that logs.
    """
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.filter_by_level,
            *_CHAIN,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger


def printable(value: object) -> object:
    """Return a value as the log may show it: shortened, and without control characters.

    Args:
        value: The value; a number or None is returned unchanged, and octets become their count.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} octets)"
    text = value if isinstance(value, str) else str(value)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}... ({len(text)} characters)"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _discreet(_logger: object, _method: str, event: _Event) -> _Event:
    for name, value in event.items():
        if name.startswith("_") or name == "exc_info":
            continue
        event[name] = "(kept out)" if name.lower() in SECRET else printable(value)
    return event


_CHAIN: list[Any] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.stdlib.PositionalArgumentsFormatter(),
    _discreet,
]
_FOR_PEOPLE: list[Any] = []
_FOR_MACHINES: list[Any] = [structlog.processors.format_exc_info, structlog.processors.EventRenamer("message")]
