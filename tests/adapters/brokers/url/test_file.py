"""Tests of the file that describes a broker: each mistake is found, with its line and a remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields
from tests.adapters.brokers.url.files import CAPABILITIES, HEAD, at, write

from assay_adapters.brokers.url.checks import absences, described, mistakes
from assay_adapters.brokers.url.file import DescriptionError, read
from assay_adapters.brokers.url.model import (
    AddressesTable,
    AdministrationTable,
    BrokerTable,
    ContainerTable,
    ConventionsTable,
    Operation,
    ProcessTable,
)
from assay_adapters.brokers.url.template import text_for
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.model.capabilities import Capability

PAGE = Path(__file__).parents[4] / "docs" / "url.md"
URL = "amqp://127.0.0.1:5672"
BROKER = f'\n[broker]\nurl = "{URL}"\n'


def found(folder: Path, text: str) -> list[str]:
    """Return the mistakes of a file, each after its line."""
    file = write(folder, text)
    return [f"{one.line}: {one.text}" for one in mistakes(read(file), file)]


def absent(folder: Path, text: str) -> list[str]:
    """Return the variables, programs and files that a file without mistakes names and this machine lacks."""
    file = write(folder, text)
    assert found(folder, text) == []
    return [f"{one.line}: {one.text}" for one in absences(read(file), file)]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    text = f"""{HEAD}profiles = ["delay", "qos"]
[broker]
url = "amqps://broker.example:5671"
ca-file = "ca.pem"
log-file = "acme.log"
user-variable = "ACME_USER"
password-variable = "ACME_PASSWORD"
{CAPABILITIES}
[lacks]
selector = "It filters nothing."
[addresses]
topic-prefix = "topic://"
message-queue-prefix = "queues/"
slash = "%2F"
[conventions]
settles-second = false
first-acquirer = true
[administration]
command = ["./acme-admin", "--quiet"]
operations = ["create-queue", "depth"]
[process]
start = ["acme-broker"]
pid-file = "acme.pid"
"""
    content = described(write(tmp_path, text))
    assert (content.title, content.version) == ("Acme MQ", "7.2")
    assert content.profiles == (Profile.DELAY, Profile.QOS)
    assert content.broker.ca_file == "ca.pem"
    assert content.broker.log_file == "acme.log"
    assert content.capabilities[Capability.QUEUE] == "manual, 1"
    assert content.lacks == {Capability.SELECTOR: "It filters nothing."}
    assert content.client_conventions == Conventions(
        topic_prefix="topic://",
        message_queue_prefix="queues/",
        slash="%2F",
        settles_second=False,
        first_acquirer=True,
    )
    assert content.administration is not None
    assert content.administration.operations == (Operation.CREATE_QUEUE, Operation.DEPTH)
    assert content.process is not None
    assert not content.is_own


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'verson = "1"\n{HEAD}', "1: There is no key or table 'verson'; did you mean 'version'?"),
        ('title = "x"\n', "1: the file has no version; add version = ..."),
        ("title = \n", "1: this is no valid TOML: Invalid value (at line 1, column 9)."),
        (f"{HEAD}[borker]\n", "3: There is no key or table 'borker'; did you mean 'broker'?"),
        (f"{HEAD}broker = 7\n", "3: broker is not a table; write [broker] and its keys below."),
        (f"{HEAD}[broker]\nurl = 7\n", "4: [broker] url has a wrong value: expected a string, got a whole number."),
        (
            f'{HEAD}[broker]\npassword = "secret"\n',
            "4: There is no key of [broker] 'password'; did you mean 'password-variable'?",
        ),
        (f'{HEAD}profiles = ["delai"]\n', "3: There is no profile 'delai'; did you mean 'delay'?"),
        (
            f'{HEAD}[capabilities]\ndelivery-dely = "x"\n',
            "4: There is no capability 'delivery-dely'; did you mean 'delivery-delay'?",
        ),
        (f'{HEAD}[administration]\noperations = ["depth"]\n', "3: [administration] has no command; add command = ..."),
        (
            f'{HEAD}[administration]\ncommand = ["x"]\noperations = ["deep"]\n',
            "5: There is no operation 'deep'; did you mean 'depth'?",
        ),
    ],
)
def test_a_mistake_of_form_is_found(tmp_path: Path, text: str, told: str) -> None:
    assert told in found(tmp_path, text)


def test_all_mistakes_of_form_are_found_at_once(tmp_path: Path) -> None:
    text = f'{HEAD}[broker]\nurk = 1\n[capabilities]\nque = "x"\n[process]\nstart = "x"\n'
    assert [one.partition(":")[0] for one in found(tmp_path, text)] == ["4", "6", "8"]


PROCESS = '\n[process]\nstart = ["sh", "{port}"]\n'
CONTAINER = '\n[container]\nimage = "acme/mq:7.2"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'title = ""\nversion = "1"{BROKER}{CAPABILITIES}', "title is empty; the report shows it, so fill it in."),
        (f"{HEAD}{CAPABILITIES}", '[broker] has no url; add url = "amqp://HOST:PORT".'),
        (at("http://127.0.0.1:80"), "'http://127.0.0.1:80' is not an AMQP URL; write amqp://HOST:PORT"),
        (at("amqp://127.0.0.1:x"), "write amqp://HOST:PORT"),
        (at("amqp://u:p@127.0.0.1"), "the URL contains a user; name user-variable and password-variable instead"),
        (at("amqp://127.0.0.1/queue"), "goes on after host and port"),
        (f'{HEAD}[broker]\nlog-file = "x"\n{CAPABILITIES}{PROCESS}', "by itself; remove log-file."),
        (at(URL, 'ca-file = "x"'), "ca-file is for TLS; write the url with amqps://, or remove ca-file."),
        (at(URL, 'user-variable = "X"'), "[broker] has user-variable and no password-variable; add it."),
        (f"{HEAD}{BROKER}", "no capability is declared, so no scenario could run; declare queue, and others."),
        (f'{at(URL)}kill = "x"\n', "the kit itself declares kill, by the other tables; remove it."),
        (f'{at(URL)}xa = "x"\n', "Remove the line."),
        (f'{at(URL)}admin = "x"\n', "Remove the line."),
        (
            f'{at(URL)}queue-look = "x"\n',
            "the kit itself declares queue-look, by the other tables; remove it.",
        ),
        (
            f'{at(URL)}selector = " "\n',
            "selector has no source yet; cite a document, such as a chapter of the manual.",
        ),
        (f'{at(URL)}[lacks]\nqueue = "x"\n', "queue is in [capabilities] too; remove one of the two lines."),
        (f'{at(URL)}[lacks]\nxa = ""\n', "xa has no reason yet; say in a sentence why the broker lacks it."),
        (f"{at(URL)}{PROCESS}", "the kit starts this broker and chooses its address; remove the url."),
        (
            f'{at(URL)}[process]\nstart = ["x"]\n',
            "the kit cannot find the process; add pid-file or kill, or {port} to start",
        ),
        (f'{at(URL)}[process]\nstart = ["x"]\nkill = ["y"]\n', "[process] has kill, and neither stop nor pid-file"),
        (
            f'{at(URL)}[process]\nstart = []\npid-file = "x"\n',
            '[process] start names no program; write ["PROGRAM", "ARGUMENT"].',
        ),
        (
            f'{HEAD}{CAPABILITIES}{PROCESS}pid-file = "x"\n',
            "the kit knows the process that it starts; remove pid-file.",
        ),
        (f'{HEAD}{CAPABILITIES}[process]\nstart = ["x", "{{port}}", "{{dat}}"]\n', "did you mean '{data}'?"),
        (f"{HEAD}{CAPABILITIES}{PROCESS}ready-s = 0\n", "[process] ready-s is 0; write 1 or more seconds."),
        (
            f'{at(URL)}[administration]\ncommand = ["x"]\noperations = []\n',
            "operations is empty; list what the program",
        ),
        (
            f'{at(URL)}[administration]\ncommand = ["x", "{{port}}"]\noperations = ["depth"]\n',
            "[administration] command: {port} has no meaning here; write the value.",
        ),
        (
            f'{HEAD}{CAPABILITIES}{CONTAINER}[administration]\ncommand = ["x", "{{data}}"]\noperations = ["depth"]\n',
            "[administration] command: There is no placeholder '{data}'",
        ),
        (f"{at(URL)}[container]\n", "[container] needs either image or name"),
        (
            f'{at(URL)}[container]\nname = "x"\nenvironment = {{A = "b"}}\n',
            "environment is for containers of the kit's own",
        ),
        (f'{HEAD}{CAPABILITIES}[container]\nimage = "x"\nport = 0\n', "port is 0; write a number from 1 to 65535."),
        (
            f'{HEAD}{CAPABILITIES}{PROCESS}[container]\nimage = "x"\n',
            "the file has [process] and [container]; remove one",
        ),
    ],
)
def test_a_mistake_of_meaning_is_found(tmp_path: Path, text: str, told: str) -> None:
    assert any(told in one for one in found(tmp_path, text)), found(tmp_path, text)


def test_a_mistake_names_the_line_of_its_key(tmp_path: Path) -> None:
    text = at("http://127.0.0.1:80")
    line = text.splitlines().index('url = "http://127.0.0.1:80"') + 1
    assert [one.partition(":")[0] for one in found(tmp_path, text)] == [str(line)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            at(URL, 'user-variable = "NO_SUCH_USER"\npassword-variable = "NO_SUCH_WORD"'),
            [
                "the environment variable NO_SUCH_USER is not set; set it to the user.",
                "NO_SUCH_WORD is not set; set it to",
            ],
        ),
        (f'{HEAD}known = "k.toml"{BROKER}{CAPABILITIES}', ["known: there is no file"]),
        (at(URL, 'log-file = "acme.log"'), ["log-file: there is no file"]),
        (at("amqps://127.0.0.1:5671", 'ca-file = "ca.pem"'), ["ca-file: there is no file"]),
        (
            f'{at(URL)}[administration]\ncommand = ["./acme"]\noperations = ["depth"]\n',
            ["acme is no executable file; install it, or correct the name."],
        ),
        (
            f'{HEAD}{CAPABILITIES}[process]\nstart = ["acme-there-is-none", "{{port}}"]\n',
            ["[process] start: acme-there-is-none is not on PATH; install it, or correct the name."],
        ),
    ],
)
def test_what_this_machine_lacks_is_found(tmp_path: Path, text: str, told: list[str]) -> None:
    seen = absent(tmp_path, text)
    assert len(seen) == len(told)
    assert all(part in one for part, one in zip(told, seen, strict=True)), seen


def test_an_error_names_file_and_line_and_counts_the_others(tmp_path: Path) -> None:
    file = write(tmp_path, f'{HEAD}[broker]\nurk = 1\n[capabilities]\nque = "x"\n')
    with pytest.raises(DescriptionError) as told:
        described(file)
    assert str(told.value).startswith(f"{file}:4: There is no key of [broker] 'urk'; did you mean 'url'?")
    assert str(told.value).endswith(f"`assay adapter check {file}` shows 1 more.")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"acme.toml:1: the file cannot be read \(No such file or directory\)"):
        read(tmp_path / "acme.toml")
    (tmp_path / "acme.toml").write_bytes(b'title = "x"\n\xff')
    with pytest.raises(DescriptionError, match=r"acme\.toml:2: the text is not UTF-8"):
        read(tmp_path / "acme.toml")


def test_the_pages_example_is_right_and_the_page_has_all_keys_and_operations(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert found(tmp_path, example) == []
    tables = (BrokerTable, AddressesTable, ConventionsTable, AdministrationTable, ProcessTable, ContainerTable)
    keys = {field.encode_name for table in tables for field in fields(table)}
    assert [word for word in sorted(keys | {*Operation}) if f"`{word}`" not in page] == []


def test_the_tables_of_names_and_conventions_are_those_of_the_client() -> None:
    ours = {field.name: field.default for table in (AddressesTable, ConventionsTable) for field in fields(table)}
    assert ours == {field.name: field.default for field in fields(Conventions)}


def test_the_written_file_lacks_only_a_source(tmp_path: Path) -> None:
    (mistake,) = found(tmp_path, text_for("acme"))
    assert "queue has no source yet" in mistake


def test_the_written_file_is_right_if_every_comment_is_used(tmp_path: Path) -> None:
    lines = text_for("acme").replace("TODO: a source", "manual").splitlines()
    keys = [line.removeprefix("# ") if " = " in line and line.startswith("# ") else line for line in lines]
    keys = [line.removeprefix("# ") if line.startswith("# [") else line for line in keys]
    text = "\n".join(line.replace('= ""', '= "x"') for line in keys[: keys.index("[process]")])
    text = text.replace("amqp://", "amqps://").replace('local-transaction = "It', 'xa = "It')
    assert found(tmp_path, text) == []
