"""The objects and authorities of `default.mqsc`, worked out once for each kind of queue manager."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.objects.factory import STAGING_QUEUE, factory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition
from assay_broker.core.settings import Platform, Settings
from assay_broker.mqsc.dry_run import Sketch
from assay_broker.mqsc.script import run_script, statements
from assay_sdk.model.reasons import Refused


class Beginning(Struct, frozen=True):
    """What a fresh queue manager has."""

    objects: tuple[Definition, ...]
    authorities: tuple[AuthorityRecord, ...]


def default_script() -> str:
    """The text of `default.mqsc`."""
    return files("assay_broker.mqsc").joinpath("default.mqsc").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def default_objects(name: str, *, zos: bool = False) -> Beginning:
    """What a queue manager has that begins with `default.mqsc`.

    On z/OS, whose MQSC has no SET AUTHREC, its records stand for what the external security manager says. A change of
    the staging queue is left out there, because an administrator has to define that queue first (DD-40).

    Args:
        name: The queue manager's name.
        zos: Whether it is on z/OS.

    Raises:
        ValueError: The script has a mistake; it is part of this package, and a test runs it.
    """
    sketch = Sketch(factory(name, zos=zos), Host(zos=zos))
    for statement in statements(default_script(), Host()):
        if zos and isinstance(statement.change, AlterObject) and statement.change.name == STAGING_QUEUE:
            continue
        answer = sketch.ask(statement.change)
        if isinstance(answer, Refused):
            raise ValueError(f"default.mqsc: {answer.text}")
    return Beginning(tuple(sketch.directory), tuple(sketch.authorities))


class ScriptError(ValueError):
    """A command of a script cannot be carried out; the sentence says where and why."""


def with_script(settings: Settings, script: str) -> Settings:
    """Add to the objects and authorities with which a queue manager begins.

    Args:
        settings: Its settings.
        script: Commands in MQSC.

    Raises:
        ScriptError: A command would be refused.
    """
    sketch = Sketch(settings.fresh_objects(), settings.host)
    for record in settings.authorities:
        sketch.authorities.put(record)
    refused = run_script(script, sketch.ask, settings.host).refused
    if refused:
        one, more = refused[0], len(refused) - 1
        also = f", and {more} more of its commands cannot be carried out" if more else ""
        raise ScriptError(f"line {one.at.line}, column {one.at.column}: {one.text.rstrip('.')}{also}")
    return replace(settings, objects=tuple(sketch.directory), authorities=tuple(sketch.authorities))


def default_settings(name: str = "ASSAY", *, platform: Platform = "distributed", level: str = "8.0") -> Settings:
    """Settings of a queue manager that begins with `default.mqsc`.

    Args:
        name: Its name.
        platform: Where it runs.
        level: Its command level, as ``8.0``.
    """
    begin = default_objects(name, zos=platform == "zos")
    return Settings(name=name, platform=platform, level=level, objects=begin.objects, authorities=begin.authorities)
