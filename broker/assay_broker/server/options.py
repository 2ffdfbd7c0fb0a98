"""The options of a server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from assay_broker.core.objects.names import check_queue_manager_name
from assay_broker.core.refusals import RefusalError
from assay_broker.core.settings import Opmode, Platform
from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import OptionsError

AMQP_ADDRESS = HostPort("127.0.0.1", 5672)
HTTP_ADDRESS = HostPort("127.0.0.1", 9443)

FACTORY = "none"
"""The word for factory settings, in place of a script."""

ZOS_NAME = "MQ01"
"""The default name of a queue manager on z/OS, where names have four characters."""

PLATFORMS: tuple[Platform, ...] = ("distributed", "zos")
OPMODES: tuple[Opmode, ...] = ("NEWFUNC", "COMPAT")

LEVEL = re.compile(r"[1-9][0-9]?\.[0-9](\.[0-9]){0,2}")
_SHOWN = 12


class ServerOptions(Struct, frozen=True, kw_only=True):
    """The options of a server.

    Args:
        data: The folder of its store; None keeps everything in memory.
        amqp: Where it listens for AMQP 1.0; None for nowhere.
        http: Where it listens for its administrators; None for nowhere.
        users: The users' file; None for clients of this machine only, without a login.
        tls_certificate: A certificate chain in PEM; None for no TLS.
        tls_key: The certificate's private key in PEM.
        clear_passwords: Whether passwords may come in clear text from other machines too, as in a network of
            containers.
        mqsc: Scripts that a fresh queue manager begins with, one after the other, behind `default.mqsc`; with
            ``none`` in front, behind nothing but factory settings.
        name: The queue manager's name.
        level: Its command level, as ``8.0``.
        platform: Which platform's rules hold.
        opmode: z/OS's OPMODE.
        defect: A named misbehaviour; None for none.
        variant: A tolerated variant (`assay_broker.variants`); None for the reference broker as it is.
        limits: What clients can make grow, by the names of `assay_broker.core.settings.Settings` (``max_queues``).
        amqp_limits: The same for AMQP, by the names of `assay_broker.amqp.limits.AmqpLimits`.
        http_limits: The same for HTTP, by the names of `assay_broker.http.limits.HttpLimits`.
        drain_ms: How long clients have to go in at an orderly end, in milliseconds.
    """

    data: Path | None = None
    amqp: HostPort | None = AMQP_ADDRESS
    http: HostPort | None = HTTP_ADDRESS
    users: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    clear_passwords: bool = False
    mqsc: tuple[Path | Literal["none"], ...] = ()
    name: str = "ASSAY"
    level: str = "8.0"
    platform: Platform = "distributed"
    opmode: Opmode = "NEWFUNC"
    defect: str | None = None
    variant: str | None = None
    limits: Mapping[str, int] = MappingProxyType({})
    amqp_limits: Mapping[str, int] = MappingProxyType({})
    http_limits: Mapping[str, int] = MappingProxyType({})
    drain_ms: int = 5_000


def check(options: ServerOptions) -> None:
    """Refuse options that are invalid or contradict each other, without touching the machine.

    Args:
        options: The options.

    Raises:
        OptionsError: One is invalid, or two contradict each other.
    """
    if LEVEL.fullmatch(options.level) is None:
        raise OptionsError(f"{options.level!r} is no level: give one such as 8.0 or 9.4.2")
    check_word("platform", options.platform, PLATFORMS)
    check_word("OPMODE", options.opmode, OPMODES)
    try:
        check_queue_manager_name(options.name, zos=options.platform == "zos")
    except RefusalError as error:
        raise OptionsError(str(error).partition(": ")[2].rstrip(".")) from error
    _check_behaviour(options)
    if FACTORY in options.mqsc[1:]:
        raise OptionsError(
            f"mqsc has {FACTORY!r} behind a script: it stands for factory settings in place of default.mqsc, so put it "
            "in front"
        )
    if options.drain_ms < 0:
        raise OptionsError(f"drain_ms is {options.drain_ms}: give milliseconds from 0, where 0 waits for no client")
    if options.amqp is None and options.http is None:
        raise OptionsError(
            "no client could reach a server without AMQP and without HTTP: leave one of the two in place"
        )
    if options.amqp is not None and options.amqp.port and options.amqp == options.http:
        raise OptionsError(f"AMQP and HTTP cannot both listen on {options.amqp}: give one of them another port")
    if (options.tls_certificate is None) != (options.tls_key is None):
        given, missing = ("certificate", "key") if options.tls_key is None else ("key", "certificate")
        raise OptionsError(f"a TLS {given} is of no use without its {missing}: name both files, or neither")
    for address in (options.amqp, options.http):
        if address is not None and not address.loopback and options.users is None:
            raise OptionsError(
                f"{address} can be reached from other machines, and without a users' file every client could connect: "
                "name one (assay broker --users FILE --add-user NAME makes it), or listen on 127.0.0.1"
            )


def _check_behaviour(options: ServerOptions) -> None:
    """Refuse an unknown defect or variant, and both together; a server without either loads neither."""
    if options.defect is not None:
        from assay_broker.defects import DEFECTS

        check_word("defect", options.defect, DEFECTS)
    if options.variant is not None:
        from assay_broker.variants import VARIANTS

        check_word("variant", options.variant, VARIANTS)
    if options.defect is not None and options.variant is not None:
        raise OptionsError(
            f"the defect {options.defect} and the variant {options.variant} exclude each other: give one of them"
        )


def check_word(what: str, word: str, known: Iterable[str]) -> None:
    """Refuse an unknown word, and name the closest known one.

    Args:
        what: What it names.
        word: What was written.
        known: The words there are.

    Raises:
        OptionsError: There is no such word.
    """
    names = list(known)
    if word in names:
        return
    near = get_close_matches(word.lower(), {name.lower(): name for name in names}, n=1)
    if near:
        hint = f"did you mean {next(name for name in names if name.lower() == near[0])!r}?"
    else:
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        hint = f"there is {shown}"
    raise OptionsError(f"there is no {what} {word!r}; {hint}")
