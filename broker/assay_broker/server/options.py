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
STOMP_ADDRESS = HostPort("127.0.0.1", 61613)
"""The default address of the STOMP listener of a server that the command starts."""

FACTORY = "none"
"""The word that stands for factory settings in an option that names scripts."""

ZOS_NAME = "MQ01"
"""The default name of a queue manager on z/OS, where names have at most four characters."""

PLATFORMS: tuple[Platform, ...] = ("distributed", "zos")
OPMODES: tuple[Opmode, ...] = ("NEWFUNC", "COMPAT")

LEVEL = re.compile(r"[1-9][0-9]?\.[0-9](\.[0-9]){0,2}")
_SHOWN = 12


class ServerOptions(Struct, frozen=True, kw_only=True):
    """The options of a server.

    Args:
        data: The folder of the store; None for a store in memory.
        amqp: The address of the AMQP 1.0 listener; None for no such listener.
        stomp: The address of the STOMP listener; None for no such listener.
        http: The address of the HTTP listener, for administrators; None for no such listener.
        users: The users' file.  With None, only clients on this machine can connect, without a login.
        tls_certificate: The file of a certificate chain in PEM; None for no TLS.
        tls_key: The file of the certificate's private key in PEM; None for no TLS.
        clear_passwords: Whether clients on other machines, too, may send passwords without TLS.  This is meant for a
            private network of containers.
        mqsc: The MQSC scripts whose objects a new queue manager has, in their order, after those of `default.mqsc`.
            If the first entry is ``none``, factory settings replace `default.mqsc`.
        name: The queue manager's name.
        level: The queue manager's level, such as ``8.0``.
        platform: The platform whose rules the queue manager follows.
        opmode: The OPMODE, which matters on z/OS only.
        defect: The name of a defect; None if the broker has no defect.
        variant: The name of a tolerated variant (`assay_broker.variants`); None for the broker without a variant.
        limits: Limits of the queue manager, by the names of `assay_broker.core.settings.Settings` (``max_queues``).
        amqp_limits: Limits of the AMQP listener, by the names of `assay_broker.amqp.limits.AmqpLimits`.
        stomp_limits: Limits of the STOMP listener, by the names of `assay_broker.stomp.limits.StompLimits`.
        http_limits: Limits of the HTTP listener, by the names of `assay_broker.http.limits.HttpLimits`.
        drain_ms: Milliseconds that clients have to disconnect when the server stops normally.
    """

    data: Path | None = None
    amqp: HostPort | None = AMQP_ADDRESS
    stomp: HostPort | None = None
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
    stomp_limits: Mapping[str, int] = MappingProxyType({})
    http_limits: Mapping[str, int] = MappingProxyType({})
    drain_ms: int = 5_000

    @property
    def listeners(self) -> tuple[tuple[str, HostPort], ...]:
        """The listeners of the server: the name of each protocol, and the address."""
        asked = (("AMQP", self.amqp), ("STOMP", self.stomp), ("HTTP", self.http))
        return tuple((what, address) for what, address in asked if address is not None)


def check(options: ServerOptions) -> None:
    """Check a server's options, without opening a file or an address.

    Args:
        options: The options.

    Raises:
        OptionsError: An option is invalid, or two options contradict each other.
    """
    if LEVEL.fullmatch(options.level) is None:
        raise OptionsError(f"{options.level!r} is not a level: give one such as 8.0 or 9.4.2")
    check_word("platform", options.platform, PLATFORMS)
    check_word("OPMODE", options.opmode, OPMODES)
    try:
        check_queue_manager_name(options.name, zos=options.platform == "zos")
    except RefusalError as error:
        raise OptionsError(str(error).partition(": ")[2].rstrip(".")) from error
    _check_behaviour(options)
    if FACTORY in options.mqsc[1:]:
        raise OptionsError(
            f"mqsc has {FACTORY!r} after a script: {FACTORY!r} means factory settings in place of default.mqsc, so put "
            "it first"
        )
    if options.drain_ms < 0:
        raise OptionsError(f"drain_ms is {options.drain_ms}: give milliseconds from 0, where 0 waits for no client")
    _check_addresses(options)
    if (options.tls_certificate is None) != (options.tls_key is None):
        given, missing = ("certificate", "key") if options.tls_key is None else ("key", "certificate")
        raise OptionsError(f"a TLS {given} is of no use without its {missing}: name both files, or neither")
    for _, address in options.listeners:
        if not address.loopback and options.users is None:
            raise OptionsError(
                f"other machines can reach {address}, and without a users' file every client could connect: "
                "name one (assay broker --users FILE --add-user NAME creates it), or listen on 127.0.0.1"
            )


def _check_addresses(options: ServerOptions) -> None:
    """Check that a server has a listener, and that no two listeners have the same address.

    Raises:
        OptionsError: No client could reach the server, or two listeners have the same address.
    """
    if not options.listeners:
        raise OptionsError(
            "no client could reach a server without AMQP, STOMP and HTTP: give it one of the three listeners"
        )
    seen: dict[HostPort, str] = {}
    for what, address in options.listeners:
        if address.port and address in seen:
            raise OptionsError(
                f"{seen[address]} and {what} cannot both listen on {address}: give one of them another port"
            )
        seen[address] = what


def _check_behaviour(options: ServerOptions) -> None:
    """Check the defect and the variant; load the modules of defects and of variants only for an option that is set.

    Raises:
        OptionsError: The defect or the variant is unknown, or both are given.
    """
    if options.defect is not None:
        from assay_broker.defects import SWITCHES

        check_word("defect", options.defect, SWITCHES)
    if options.variant is not None:
        from assay_broker.variants import VARIANTS

        check_word("variant", options.variant, VARIANTS)
    if options.defect is not None and options.variant is not None:
        raise OptionsError(
            f"the defect {options.defect} and the variant {options.variant} exclude each other: give one of them"
        )


def check_word(what: str, word: str, known: Iterable[str]) -> None:
    """Check that a word is known.

    Args:
        what: A noun for the kind of word, for the error: "defect".
        word: The word that the user wrote.
        known: All known words.

    Raises:
        OptionsError: The word is unknown; the error names the closest known word or, if none is similar, some known
            words.
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
