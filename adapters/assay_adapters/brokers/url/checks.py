"""Checks of a file that describes a broker, for contradictions and for names of files or programs that do not exist."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from assay_adapters.brokers.url.declaring import ADDED, IMPOSSIBLE, impossible
from assay_adapters.brokers.url.file import DescriptionError, Mistake, Reading, read
from assay_adapters.brokers.url.model import DATA, PORT, Description, Operation
from assay_adapters.suggestions import unknown

_Found: TypeAlias = Iterator[tuple[str, str, str]]
"""Table, key (empty for the table's header) and text of each mistake."""

UNWRITTEN = "TODO"
"""The beginning of a value that `assay adapter new` leaves to the user."""
_LAST_PORT = 65_535
_PLACEHOLDER = re.compile(r"\{[A-Za-z_-]*\}")


def described(file: Path) -> Description:
    """Return the content of a file that describes a broker.

    Raises:
        DescriptionError: The file has mistakes, or cannot be read.
    """
    reading = read(file)
    found = mistakes(reading, file)
    if reading.description is None or found:
        raise DescriptionError(file, found)
    return reading.description


def mistakes(reading: Reading, file: Path) -> tuple[Mistake, ...]:
    """Return the mistakes in a file's form, in the order of their lines; if the form is right, those in its values."""
    return reading.mistakes or _located(reading, (_head, _broker, _capabilities, _commands, _process, _container), file)


def absences(reading: Reading, file: Path) -> tuple[Mistake, ...]:
    """Return a mistake for each environment variable, program and file that the file names and this machine lacks."""
    return _located(reading, (_variables, _programs, _files), file)


def _located(
    reading: Reading, checks: tuple[Callable[[Description, Path], _Found], ...], file: Path
) -> tuple[Mistake, ...]:
    description = reading.description
    if description is None:
        return ()
    found = [
        Mistake(reading.line_of(table, key), text)
        for check in checks
        for table, key, text in check(description, file.parent)
    ]
    return tuple(sorted(found, key=lambda one: one.line))


# --- checks of the file alone


def _head(of: Description, _folder: Path) -> _Found:
    for key, value in (("title", of.title), ("version", of.version)):
        if not value.strip():
            yield "", key, f"{key} is empty; the report shows it, so fill it in."


def _broker(of: Description, _folder: Path) -> _Found:
    broker = of.broker
    if of.is_own and broker.url is not None:
        yield "broker", "url", "the kit starts this broker and chooses its address; remove the url."
    if not of.is_own and broker.url is None:
        yield "broker", "", '[broker] has no url; add url = "amqp://HOST:PORT".'
    if broker.url is not None and (text := _of_url(broker.url)):
        yield "broker", "url", f"[broker] url: {text}."
    elif broker.ca_file is not None and not (broker.url or "").startswith("amqps://"):
        yield "broker", "ca-file", "ca-file is for TLS; write the url with amqps://, or remove ca-file."
    if broker.log_file is not None and (of.is_own or of.container is not None):
        yield "broker", "log-file", "the kit reads the log of this broker by itself; remove log-file."
    if (broker.user_variable is None) != (broker.password_variable is None):
        given, other = ("user", "password") if broker.password_variable is None else ("password", "user")
        yield "broker", f"{given}-variable", f"[broker] has {given}-variable and no {other}-variable; add it."


def _of_url(url: str) -> str:
    """Return the mistake in an AMQP URL and the remedy, as a clause; an empty text for a valid URL."""
    form = "write amqp://HOST:PORT, or amqps://HOST:PORT for TLS"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"{url!r} is not an AMQP URL ({error}); {form}"
    if parts.scheme not in {"amqp", "amqps"} or not parts.hostname or port == 0:
        return f"{url!r} is not an AMQP URL; {form}"
    if parts.username is not None:
        return "the URL contains a user; name user-variable and password-variable instead, so that no report shows them"
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        return f"{url!r} goes on after host and port; {form}"
    return ""


def _capabilities(of: Description, _folder: Path) -> _Found:
    for one, source in of.capabilities.items():
        if one in ADDED:
            yield (
                "capabilities",
                one.value,
                f"the kit itself declares {one.value}, by the other tables; remove it.",
            )
        elif one in IMPOSSIBLE:
            yield "capabilities", one.value, f"{one.value}: {impossible(one, of.title).text} Remove the line."
        elif one in of.lacks:
            yield "lacks", one.value, f"{one.value} is in [capabilities] too; remove one of the two lines."
        if one not in ADDED | IMPOSSIBLE and _is_unwritten(source):
            text = f"{one.value} has no source yet; cite a document, such as a chapter of the manual."
            yield "capabilities", one.value, text
    for one, reason in of.lacks.items():
        if _is_unwritten(reason):
            yield "lacks", one.value, f"{one.value} has no reason yet; say in a sentence why the broker lacks it."
    if not of.capabilities:
        yield (
            "capabilities",
            "",
            "no capability is declared, so no scenario could run; declare queue, and others.",
        )


def _is_unwritten(text: str) -> bool:
    return not text.strip() or text.startswith(UNWRITTEN)


def _commands(of: Description, _folder: Path) -> _Found:
    placeholders = _placeholders(of)
    for table, key, words in _words(of):
        if not words or not words[0].strip():
            if key in {"start", "command"} or words:
                yield table, key, f'[{table}] {key} names no program; write ["PROGRAM", "ARGUMENT"].'
            continue
        known = placeholders.get(table, ())
        for found in (match for word in words for match in _PLACEHOLDER.findall(word)):
            if found not in known:
                text = (
                    unknown("placeholder", found, known) if known else f"{found} has no meaning here; write the value."
                )
                yield table, key, f"[{table}] {key}: {text}"
    if of.administration is not None and not of.administration.operations:
        names = ", ".join(Operation)
        yield "administration", "operations", f"operations is empty; list what the program offers of {names}."
    for table, limit in (
        ("administration", of.administration.timeout_s if of.administration else None),
        ("process", of.process.ready_s if of.process else None),
        ("container", of.container.ready_s if of.container else None),
    ):
        if limit is not None and limit < 1:
            key = "timeout-s" if table == "administration" else "ready-s"
            yield table, key, f"[{table}] {key} is {limit}; write 1 or more seconds."


def _placeholders(of: Description) -> dict[str, tuple[str, ...]]:
    """Return the placeholders that have a meaning in the commands of each table."""
    if of.process is not None and of.process.is_own:
        return dict.fromkeys(("process", "administration"), (PORT, DATA))
    return {"administration": (PORT,)} if of.is_own else {}


def _words(of: Description) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    if of.administration is not None:
        yield "administration", "command", of.administration.command
    if of.process is not None:
        yield "process", "start", of.process.start
        yield "process", "stop", of.process.stop
        yield "process", "kill", of.process.kill


def _process(of: Description, _folder: Path) -> _Found:
    process = of.process
    if process is None:
        return
    if of.container is not None:
        yield "container", "", "the file has [process] and [container]; remove one of them."
    if process.is_own and process.pid_file is not None:
        yield (
            "process",
            "pid-file",
            "start has {port}, so the kit knows the process that it starts; remove pid-file.",
        )
    if not process.is_own and process.pid_file is None and not process.kill:
        text = "the kit cannot find the process; add pid-file or kill, or {port} to start for brokers of the kit's own."
        yield "process", "start", text
    if not process.is_own and process.pid_file is None and process.kill and not process.stop:
        yield (
            "process",
            "kill",
            "[process] has kill, and neither stop nor pid-file; add one, so that the kit can stop it.",
        )


def _container(of: Description, _folder: Path) -> _Found:
    container = of.container
    if container is None:
        return
    if (container.image is None) == (container.name is None):
        yield "container", "", "[container] needs either image or name; image starts new ones, name uses one that runs."
    elif container.image is None:
        for key, value in (("environment", container.environment), ("data-folders", container.data_folders)):
            if value:
                yield "container", key, f"{key} is for containers of the kit's own; remove it, or name an image."
    if not 0 < container.port <= _LAST_PORT:
        yield "container", "port", f"port is {container.port}; write a number from 1 to 65535."


# --- checks of this machine


def _variables(of: Description, _folder: Path) -> _Found:
    for key, name in (("user-variable", of.broker.user_variable), ("password-variable", of.broker.password_variable)):
        if name is not None and not os.environ.get(name):
            yield "broker", key, f"the environment variable {name} is not set; set it to the {key.partition('-')[0]}."


def _programs(of: Description, folder: Path) -> _Found:
    for table, key, words in _words(of):
        if words and program(words[0], folder) is None:
            where = f"{folder / words[0]} is no executable file" if "/" in words[0] else f"{words[0]} is not on PATH"
            yield table, key, f"[{table}] {key}: {where}; install it, or correct the name."


def _files(of: Description, folder: Path) -> _Found:
    broker = of.broker
    named = (("", "known", of.known), ("broker", "ca-file", broker.ca_file), ("broker", "log-file", broker.log_file))
    for table, key, name in named:
        if name is not None and not (folder / name).is_file():
            yield table, key, f"{key}: there is no file {folder / name}; write it, or remove the line."


def program(name: str, folder: Path) -> str | None:
    """Return the path of an executable; None if this machine has no such executable.

    Args:
        name: A name on ``PATH``, or a path if it contains a slash.
        folder: The folder to which a path is relative.
    """
    if "/" not in name:
        return shutil.which(name)
    path = folder / name
    return str(path.absolute()) if path.is_file() and os.access(path, os.X_OK) else None
