"""A server's TOML file and its command's flags: they have the same names, and a flag precedes."""

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
"""Limits below which no client could connect; others are at least 1.

AMQP 1.0 demands 512 octets of a frame (2.4.1). The client's open and attach have to fit into a performative. A password
has to be hashed within the time for the login. A client id may be a UUID, and a queue's name has 48 bytes.
"""


class Launch(Struct, frozen=True, kw_only=True):
    """A server's options, and how the command runs it.

    Args:
        server: What it is asked to be.
        log: How its log is written; None for people on a terminal and for machines elsewhere.
        ready_file: A file that says in JSON where it listens, for as long as it does; None for none.
    """

    server: ServerOptions
    log: LogForm | None = None
    ready_file: Path | None = None


class Asked(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The options in a file or in flags, by the flags' names.

    Args:
        data: See `ServerOptions`; texts are read as the flags' are.
        amqp: ``HOST:PORT``, or ``none``.
        http: The same.
        mqsc: A script, ``none``, or several.
        log: ``json`` or ``console``.
        ready_file: See `Launch`.
        limits: The queue manager's limits, in kebab case: ``max-queues``.
        amqp_limits: AMQP's, in kebab case.
        http_limits: HTTP's, in kebab case.
        drain_ms: See `ServerOptions`.
    """

    data: str | UnsetType = UNSET
    amqp: str | UnsetType = UNSET
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
    http_limits: dict[str, int] | UnsetType = UNSET


_PATHS = ("data", "users", "tls_certificate", "tls_key", "ready_file")
_NAMES = {one.encode_name: one.name for one in fields(Asked)}


def read_file(path: Path) -> Asked:
    """Read a server's TOML file; paths in it are relative to its folder.

    Args:
        path: The file.

    Raises:
        OptionsError: It cannot be read, or has an unknown key or a wrong value.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionsError(f"{path} cannot be read: {error.strerror}; name a TOML file") from error
    except UnicodeDecodeError as error:
        raise OptionsError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise OptionsError(f"{path} is no TOML: {error}") from error
    try:
        found = asked(table)
        _limits(_set(found))  # now, while the file can be named
        return _seen_from(path.parent, found)
    except OptionsError as error:
        raise OptionsError(f"{path}: {error}") from error


def asked(table: Mapping[str, Any]) -> Asked:
    """Read the options of a table.

    Args:
        table: The options of a file or of flags, by key.

    Raises:
        OptionsError: A key is unknown, or a value has the wrong type.
    """
    for key in table:
        check_word("key", key, _NAMES)
    try:
        found = msgspec.convert(dict(table), Asked)
    except msgspec.ValidationError as error:
        raise OptionsError(_worded(table, error)) from error
    for key, name in _NAMES.items():
        if name in _PATHS and getattr(found, name) == "":  # as an unset variable of a shell gives it
            raise OptionsError(f"{key} is empty: name a file or folder, or leave it out")
    return found


def _worded(table: Mapping[str, Any], error: msgspec.ValidationError) -> str:
    """Return what is wrong with a table; for limits it names the one, which msgspec does not."""
    for name in ("limits", "amqp-limits", "http-limits"):
        inner = table.get(name)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if type(value) is not int:
                return f"{name}.{key} is {value!r}: write a whole number"
    text, _, place = str(error).partition(" - at `$.")
    return f"{place.rstrip('`')}: {text[:1].lower()}{text[1:]}"


def launch(flags: Asked, file: Asked | None = None) -> Launch:
    """Return the server's options and how the command runs it.

    Args:
        flags: What the command's flags ask for.
        file: What its file asks for; None without one.

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
    for name in given.keys() & {"amqp", "http"}:
        given[name] = None if given[name] == NOWHERE else HostPort.read(given[name])
    if "mqsc" in given:
        given["mqsc"] = tuple(one if one == FACTORY else Path(one) for one in _several(given["mqsc"]))
    given |= _limits(given)
    if given.get("platform") == "zos":
        given.setdefault("name", ZOS_NAME)
    server = ServerOptions(**given)
    check(server)
    return Launch(server=server, log=log, ready_file=None if ready_file is None else Path(ready_file))


def _limits(given: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the tables of limits, by their names in the code.

    Raises:
        OptionsError: There is no such limit, or it allows nothing.
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
    """Refuse HTTP limits that contradict each other."""
    from assay_broker.http.limits import HttpLimits

    meant = HttpLimits(**limits)
    if meant.wait_ms >= meant.exchange_ms:
        raise OptionsError(
            f"wait-ms in [http-limits] is {meant.wait_ms}: it must be less than exchange-ms ({meant.exchange_ms}), "
            "in which a request has to be answered"
        )
    if meant.body > meant.bodies:
        raise OptionsError(
            f"body in [http-limits] is {meant.body}: it cannot be more than bodies ({meant.bodies}), for all together"
        )


def _named(where: str, table: Mapping[str, int], known: tuple[str, ...]) -> dict[str, int]:
    names = {name.replace("_", "-"): name for name in known}
    for key, value in table.items():
        check_word(f"limit in {where}", key, names)
        lowest = _LOWEST_LIMITS.get(names[key], 1)
        if not lowest <= value <= _HIGHEST_LIMIT:
            raise OptionsError(f"the limit {key} in {where} is from {lowest} to {_HIGHEST_LIMIT:,}, and {value} is not")
    return {names[key]: value for key, value in table.items()}


def _amqp_limits() -> tuple[str, ...]:
    from assay_broker.amqp.limits import AmqpLimits

    return tuple(one.name for one in fields(AmqpLimits))


def _http_limits() -> tuple[str, ...]:
    from assay_broker.http.limits import HttpLimits

    return tuple(one.name for one in fields(HttpLimits) if one.name != "drain_ms")  # that is the server's


_KNOWN_LIMITS: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "limits": lambda: LIMITS,
    "amqp_limits": _amqp_limits,
    "http_limits": _http_limits,
}
"""Limits by the tables of a file; the listeners' are loaded only for a file that has some."""


def _set(one: Asked) -> dict[str, Any]:
    return {name: value for name in _NAMES.values() if (value := getattr(one, name)) is not UNSET}


def _several(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _seen_from(folder: Path, one: Asked) -> Asked:
    """Return the options with paths relative to another folder."""
    seen: dict[str, Any] = {
        name: str(folder / value) for name in _PATHS if isinstance(value := getattr(one, name), str)
    }
    if isinstance(one.mqsc, str | list):
        seen["mqsc"] = [script if script == FACTORY else str(folder / script) for script in _several(one.mqsc)]
    return replace(one, **seen)
