"""The initial objects and settings of a server's queue manager."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import ScriptError, default_settings, with_script
from assay_broker.server.errors import OptionsError
from assay_broker.server.options import FACTORY, ServerOptions


def settings_of(options: ServerOptions) -> Settings:
    """Return the settings with which a queue manager starts.

    The settings come from `default.mqsc` or from factory settings, followed by the scripts in the options.  A queue
    manager with a store keeps the earlier changes to its objects.

    Args:
        options: The server's options.

    Raises:
        OptionsError: A script cannot be read, or the queue manager would refuse a command in it.
    """
    first, scripts = options.mqsc[:1] == (FACTORY,), [one for one in options.mqsc if isinstance(one, Path)]
    if first:
        settings = Settings(name=options.name, platform=options.platform, level=options.level)
    else:
        settings = default_settings(options.name, platform=options.platform, level=options.level)
    settings = replace(settings, opmode=options.opmode, **options.limits)
    return _with_scripts(settings, scripts) if scripts else settings


def _with_scripts(settings: Settings, scripts: Sequence[Path]) -> Settings:
    for path in scripts:
        try:
            settings = with_script(settings, _text(path))
        except ScriptError as error:
            raise OptionsError(f"{path}, {error}") from error
    return settings


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OptionsError(f"{path} cannot be read: {error.strerror}; name a script of MQSC, or none") from error
    except UnicodeDecodeError as error:
        raise OptionsError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
