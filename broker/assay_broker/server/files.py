"""A server's options in a TOML file and in the command's flags, which have the same names; a flag takes precedence."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields, replace

from assay_broker.core.settings import Settings
from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import OptionsError
from assay_broker.server.options import FACTORY, ZOS_NAME, ServerOptions, check, check_word

NOWHERE = "none"
"""The word for a listener that is switched off."""

LogForm = Literal["json", "console"]
LOG_FORMS: tuple[LogForm, ...] = ("json", "console")

LIMITS = tuple(one.name for one in fields(Settings) if one.name.startswith("max_"))
"""The queue manager's limits that a file may set."""

_HIGHEST_LIMIT = 2**31 - 1
_LOWEST_LIMITS: Mapping[str, int] = {"max_frame": 512, "max_performative": 512, "login_ms": 1_000, "max_name_bytes": 48}
"""The lowest values of the limits that could keep all clients from connecting; other limits must be at least 1.

AMQP 1.0 demands that a peer accepts frames of 512 octets (2.4.1).  The client's open and attach must fit into a
performative.  The server must hash a password within the time for the login.  A client id may be a UUID, and a queue's
name has up to 48 bytes.
"""


class Launch(Struct, frozen=True, kw_only=True):
    """A server's options, and the options of the command that runs the server.

    Args:
        server: The server's options.
        log: The form of the log; None for text on a terminal and JSON elsewhere.
        ready_file: A file in which the command writes the server's addresses as JSON (`Ready`) while the server
            listens; None for no file.
    """

    server: ServerOptions
    log: LogForm | None = None
    ready_file: Path | None = None


class Asked(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The options in a file or in the flags, by the flags' names and not converted yet.

    `ServerOptions` describes the options that are not described here.

    Args:
        data: The path of the store's folder.
        amqp: ``HOST:PORT``, or ``none``.
        stomp: ``HOST:PORT``, or ``none``.
        http: ``HOST:PORT``, or ``none``.
        mqsc: The path of a script, the word ``none``, or a list of these.
        log: The form of the log, ``json`` or ``console``.
        ready_file: The path of the ready file; see `Launch`.
        limits: The queue manager's limits, in kebab case, such as ``max-queues``.
        amqp_limits: The AMQP listener's limits, in kebab case.
        stomp_limits: The STOMP listener's limits, in kebab case.
        http_limits: The HTTP listener's limits, in kebab case.
        drain_ms: Milliseconds that clients have to disconnect when the server stops.
    """

    data: str | UnsetType = UNSET
    amqp: str | UnsetType = UNSET
    stomp: str | UnsetType = UNSET
    http: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    level: str | UnsetType = UNSET
    platform: str | UnsetType = UNSET
    opmode: str | UnsetType = UNSET
    mqsc: str | list[str] | UnsetType = UNSET
    users: str | UnsetType = UNSET
    tls_certificate: str | UnsetType = UNSET
    tls_key: str | UnsetType = UNSET
    clear_passwords: bool | UnsetType = UNSET
    defect: str | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    log: str | UnsetType = UNSET
    ready_file: str | UnsetType = UNSET
    drain_ms: int | UnsetType = UNSET
    limits: dict[str, int] | UnsetType = UNSET
    amqp_limits: dict[str, int] | UnsetType = UNSET
    stomp_limits: dict[str, int] | UnsetType = UNSET
    http_limits: dict[str, int] | UnsetType = UNSET


_PATHS = ("data", "users", "tls_certificate", "tls_key", "ready_file")
_NAMES = {one.encode_name: one.name for one in fields(Asked)}


def read_file(path: Path) -> Asked:
    """Read a server's TOML file; relative paths in it start at the file's folder.

    Args:
        path: The file.

    Raises:
        OptionsError: The file cannot be read, or has an unknown key or a wrong value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionsError(f"{path} cannot be read: {error.strerror}; name a TOML file") from error
    except UnicodeDecodeError as error:
        raise OptionsError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise OptionsError(f"{path} is not valid TOML: {error}") from error
    try:
        found = asked(table)
        _limits(_set(found))  # checked here, because the error can still name the file
        return _seen_from(path.parent, found)
    except OptionsError as error:
        raise OptionsError(f"{path}: {error}") from error


def asked(table: Mapping[str, Any]) -> Asked:
    """Convert a table of options and check the types of its values.

    Args:
        table: The options of a file or of flags, by key.

    Raises:
        OptionsError: A key is unknown, a value has the wrong type, or a path is empty.
    """
    for key in table:
        check_word("key", key, _NAMES)
    try:
        found = msgspec.convert(dict(table), Asked)
    except msgspec.ValidationError as error:
        raise OptionsError(_worded(table, error)) from error
    for key, name in _NAMES.items():
        if name in _PATHS and getattr(found, name) == "":  # a script's unset variable gives an empty flag
            raise OptionsError(f"{key} is empty: name a file or folder, or leave it out")
    return found


def _worded(table: Mapping[str, Any], error: msgspec.ValidationError) -> str:
    """Return the text for msgspec's error in a table; for a table of limits, with the name of the limit."""
    for name in ("limits", "amqp-limits", "stomp-limits", "http-limits"):
        inner = table.get(name)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if type(value) is not int:
                return f"{name}.{key} is {value!r}: write a whole number"
    text, _, place = str(error).partition(" - at `$.")
    return f"{place.rstrip('`')}: {text[:1].lower()}{text[1:]}"


def launch(flags: Asked, file: Asked | None = None, *, stomp: HostPort | None = None) -> Launch:
    """Combine the command's flags and its file into the options of the server and the command.

    Args:
        flags: The options in the command's flags, which take precedence.
        file: The options in the command's file; None if the command has no file.
        stomp: The address of the STOMP listener, if neither the flags nor the file have one.

    Raises:
        OptionsError: An option is invalid.
    """
    given = {} if file is None else _set(file)
    given |= _set(flags)
    log = given.pop("log", None)
    ready_file = given.pop("ready_file", None)
    if log is not None:
        check_word("form of a log", log, LOG_FORMS)
    for name in given.keys() & {"data", "users", "tls_certificate", "tls_key"}:
        given[name] = Path(given[name])
    for name in given.keys() & {"amqp", "stomp", "http"}:
        given[name] = None if given[name] == NOWHERE else HostPort.read(given[name])
    given.setdefault("stomp", stomp)
    if "mqsc" in given:
        given["mqsc"] = tuple(one if one == FACTORY else Path(one) for one in _several(given["mqsc"]))
    given |= _limits(given)
    if given.get("platform") == "zos":
        given.setdefault("name", ZOS_NAME)
    server = ServerOptions(**given)
    check(server)
    return Launch(server=server, log=log, ready_file=None if ready_file is None else Path(ready_file))


def _limits(given: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the tables of limits with the names that the code uses, in snake case.

    Raises:
        OptionsError: A limit is unknown, or its value is too low or too high.
    """
    found = {
        name: _named(f"[{name.replace('_', '-')}]", given[name], known())
        for name, known in _KNOWN_LIMITS.items()
        if name in given
    }
    if "http_limits" in found:
        _check_http(found["http_limits"])
    return found


def _check_http(limits: Mapping[str, int]) -> None:
    """Check that HTTP limits do not contradict each other.

    Raises:
        OptionsError: Two limits contradict each other.
    """
    from assay_broker.http.limits import HttpLimits

    meant = HttpLimits(**limits)
    if meant.wait_ms >= meant.exchange_ms:
        raise OptionsError(
            f"wait-ms in [http-limits] is {meant.wait_ms}: it must be less than exchange-ms ({meant.exchange_ms}), "
            "in which a request has to be answered"
        )
    if meant.body > meant.bodies:
        raise OptionsError(
            f"body in [http-limits] is {meant.body}: it cannot be more than bodies ({meant.bodies}), the limit of all "
            "bodies together"
        )


def _named(where: str, table: Mapping[str, int], known: tuple[str, ...]) -> dict[str, int]:
    names = {name.replace("_", "-"): name for name in known}
    for key, value in table.items():
        check_word(f"limit in {where}", key, names)
        lowest = _LOWEST_LIMITS.get(names[key], 1)
        if not lowest <= value <= _HIGHEST_LIMIT:
            raise OptionsError(f"the limit {key} in {where} is {value}: it must be from {lowest} to {_HIGHEST_LIMIT:,}")
    return {names[key]: value for key, value in table.items()}


def _amqp_limits() -> tuple[str, ...]:
    from assay_broker.amqp.limits import AmqpLimits

    return tuple(one.name for one in fields(AmqpLimits))


def _stomp_limits() -> tuple[str, ...]:
    from assay_broker.stomp.limits import StompLimits

    return tuple(one.name for one in fields(StompLimits))


def _http_limits() -> tuple[str, ...]:
    from assay_broker.http.limits import HttpLimits

    return tuple(one.name for one in fields(HttpLimits) if one.name != "drain_ms")  # set by the server's drain-ms


_KNOWN_LIMITS: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "limits": lambda: LIMITS,
    "amqp_limits": _amqp_limits,
    "stomp_limits": _stomp_limits,
    "http_limits": _http_limits,
}
"""The names of the limits by table; a listener's module is loaded only if a file sets limits of that listener."""


def _set(one: Asked) -> dict[str, Any]:
    return {name: value for name in _NAMES.values() if (value := getattr(one, name)) is not UNSET}


def _several(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _seen_from(folder: Path, one: Asked) -> Asked:
    """Return the options with their relative paths joined to a folder."""
    seen: dict[str, Any] = {
        name: str(folder / value) for name in _PATHS if isinstance(value := getattr(one, name), str)
    }
    if isinstance(one.mqsc, str | list):
        seen["mqsc"] = [script if script == FACTORY else str(folder / script) for script in _several(one.mqsc)]
    return replace(one, **seen)
