"""The objects and authority records of `default.mqsc`, cached for each queue manager's name and platform."""

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
from assay_broker.mqsc.dry_run import DryRun
from assay_broker.mqsc.script import run_script, statements
from assay_sdk.model.reasons import Refused


class Beginning(Struct, frozen=True):
    """The objects and authority records of a new queue manager."""

    objects: tuple[Definition, ...]
    authorities: tuple[AuthorityRecord, ...]


def default_script() -> str:
    """Return the text of `default.mqsc`."""
    return files("assay_broker.mqsc").joinpath("default.mqsc").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def default_objects(name: str, *, zos: bool = False) -> Beginning:
    """Return the objects and authority records of a queue manager that starts with `default.mqsc`.

    MQSC on z/OS has no SET AUTHREC.  There the authority records take the place of the external security manager's
    profiles.  A change of the staging queue is left out on z/OS, because an administrator must define that queue first
    (DD-40).

    Args:
        name: The queue manager's name.
        zos: Whether the queue manager is on z/OS.

    Raises:
        MqscFaultError: A command of `default.mqsc`, which is part of this package, is not valid.
        ValueError: The new queue manager would refuse a command of `default.mqsc`.
    """
    dry_run = DryRun(factory(name, zos=zos), Host(zos=zos))
    for statement in statements(default_script(), Host()):
        if zos and isinstance(statement.change, AlterObject) and statement.change.name == STAGING_QUEUE:
            continue
        answer = dry_run.ask(statement.change)
        if isinstance(answer, Refused):
            raise ValueError(f"default.mqsc: {answer.text}")
    return Beginning(tuple(dry_run.directory), tuple(dry_run.authorities))


class ScriptError(ValueError):
    """A queue manager would refuse a command of a script; the text gives the command's place and the reason."""


def with_script(settings: Settings, script: str) -> Settings:
    """Add a script's objects and authority records to the settings of a queue manager.

    Args:
        settings: The settings.
        script: The MQSC commands.

    Returns:
        The settings with the additions.

    Raises:
        ScriptError: A command is not valid, or a queue manager would refuse it.
    """
    dry_run = DryRun(settings.fresh_objects(), settings.host)
    for record in settings.authorities:
        dry_run.authorities.put(record)
    refused = run_script(script, dry_run.ask, settings.host).refused
    if refused:
        one, more = refused[0], len(refused) - 1
        also = f", and {more} more of its commands cannot be carried out" if more else ""
        raise ScriptError(f"line {one.at.line}, column {one.at.column}: {one.text.rstrip('.')}{also}")
    return replace(settings, objects=tuple(dry_run.directory), authorities=tuple(dry_run.authorities))


def default_settings(
    name: str = "ASSAY", *, platform: Platform = "distributed", level: str = "8.0", factory_objects: bool = False
) -> Settings:
    """Return the settings of a queue manager that starts with `default.mqsc`.

    Args:
        name: The queue manager's name.
        platform: The queue manager's platform.
        level: The queue manager's level, such as ``8.0``.
        factory_objects: Whether only the authorities come from `default.mqsc`, and the objects have factory settings.
    """
    begin = default_objects(name, zos=platform == "zos")
    objects = () if factory_objects else begin.objects
    return Settings(name=name, platform=platform, level=level, objects=objects, authorities=begin.authorities)
