"""``assay broker``: runs the reference broker as a server."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.exits import CannotRunError, Exit, UsageProblem
from assay.terminal import hush
from assay_broker.server.errors import OptionsError, ServerError
from assay_broker.server.files import Launch, asked, launch, read_file
from assay_broker.server.options import STOMP_ADDRESS

if TYPE_CHECKING:
    from assay_broker.server.running import Ready


def broker(
    data: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the store. Default: store in memory.")
    ] = None,
    amqp: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address for AMQP 1.0, or none. Default: 127.0.0.1:5672."),
    ] = None,
    stomp: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address for STOMP, or none. Default: 127.0.0.1:61613."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address for HTTP, or none. Default: 127.0.0.1:9443."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file with these options; the command line overrides it."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the queue manager. Default: ASSAY, on z/OS MQ01.")] = None,
    level: Annotated[str | None, typer.Option(help="Level of the queue manager. Default: 8.0.")] = None,
    platform: Annotated[str | None, typer.Option(help="distributed (the default) or zos.")] = None,
    mqsc: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="MQSC script to run at the start, after default.mqsc; may be repeated. none leaves default.mqsc out.",
        ),
    ] = None,
    users: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The users' file. Default: every client on this machine may connect."),
    ] = None,
    tls_certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificate chain for TLS, in PEM.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="Private key of the certificate, in PEM.")] = None,
    clear_passwords: Annotated[
        bool, typer.Option("--clear-passwords", help="Accept passwords from other machines without TLS, too.")
    ] = False,
    defect: Annotated[str | None, typer.Option(help="Switch on a named defect.")] = None,
    variant: Annotated[
        str | None, typer.Option(help="Switch on a tolerated variant: another correct behaviour.")
    ] = None,
    log: Annotated[str | None, typer.Option(help="Form of the log: json or console.")] = None,
    ready_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File in which the server writes its addresses, in JSON, while it listens."),
    ] = None,
    add_user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write a user and a password into the users' file, and stop."),
    ] = None,
) -> Exit:
    """Run the reference broker as a server, until SIGTERM, SIGHUP or Ctrl-C."""
    flags = {
        "data": data,
        "amqp": amqp,
        "stomp": stomp,
        "http": http,
        "name": name,
        "level": level,
        "platform": platform,
        "mqsc": mqsc or None,
        "users": users,
        "tls-certificate": tls_certificate,
        "tls-key": tls_key,
        "clear-passwords": clear_passwords or None,
        "defect": defect,
        "variant": variant,
        "log": log,
        "ready-file": ready_file,
    }
    with told():
        given = asked({key: value for key, value in flags.items() if value is not None})
        file = None if config is None else read_file(config)
        if add_user is not None:
            named = given.users if file is None else (given.users or file.users)
            return _add_user(add_user, named or None)
        _serve(launch(given, file, stomp=STOMP_ADDRESS))
    return Exit.AS_EXPECTED


@contextmanager
def told() -> Generator[None]:
    """Turn errors that the server raises in the block into errors of the command.

    Raises:
        UsageProblem: An option or a file is invalid.
        CannotRunError: The server cannot run on this machine, or needs a missing package.
    """
    try:
        yield
    except ServerError as error:
        text = str(error) if str(error).endswith((".", "?")) else f"{error}."
        kind = UsageProblem if isinstance(error, OptionsError) else CannotRunError
        raise kind(text) from error
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0].startswith("assay"):
            raise
        text = f"a server needs {error.name}: install it with pip install 'assay-mq[server]'"
        raise CannotRunError(text) from error


def _serve(what: Launch) -> None:
    from assay_broker.server import loops
    from assay_broker.server.logs import set_up, take_down
    from assay_broker.server.running import run

    handler = set_up(what.log)
    try:
        loops.run(run(what, _say), encrypted=what.server.tls_key is not None)
    finally:
        take_down(handler)


def _say(ready: Ready) -> None:
    try:
        sys.stdout.write(f"{ready.sentence}\n")
        sys.stdout.flush()
    except OSError:  # only the terminal's output is lost: log and ready file have the same content
        hush()


def _add_user(name: str, file: str | None) -> Exit:
    """Add a user to the users' file, or change the password; read the password from the terminal or standard input."""
    from assay_broker.server.accounts import add_user

    if file is None:
        raise OptionsError("the users' file is not named: add an option such as --users users.toml")
    path = Path(file)
    replaced = add_user(path, name, _password(name))
    verb = "has another password in" if replaced else "is in"
    sys.stdout.write(f"{name} {verb} {path}. A running server reads the file at its next start.\n")
    return Exit.AS_EXPECTED


def _password(name: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().removesuffix("\n")
    password = getpass.getpass(f"Password of {name}: ")
    if getpass.getpass("Again: ") != password:
        raise OptionsError("the two passwords differ; no file was written")
    return password
