"""Tests that the examples of README and the pages of docs work."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from assay.application import application
from assay_broker.server.files import asked, launch, read_file
from assay_steps.entry import OPTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    README,
    *(
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("sdk.md", "amqp.md", "mqlight.md", "crash.md", "http.md", "stomp-driver.md")
    ),
)
URL = (ROOT / "docs" / "url.md").read_text(encoding="utf-8")
BROKER = (ROOT / "docs" / "broker.md").read_text(encoding="utf-8")
PYTHON = [example for page in (*PAGES, BROKER) for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]
TESTS = [example for example in PYTHON if "def test_" in example]
EXAMPLES = [example for example in PYTHON if example not in TESTS]
CONSOLE = [
    shlex.split(line.removeprefix("$ "), comments=True)
    for block in re.findall(r"```console\n(.*?)```", README + BROKER + URL, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
INLINE = [shlex.split(text) for text in re.findall(r"`((?:assay|pytest) [^`]+)`", README)]
COMMANDS = [words for words in (*CONSOLE, *INLINE) if words[0] == "assay"]


def test_readme_has_examples_and_commands() -> None:
    assert EXAMPLES
    assert len(TESTS) == 2
    assert {words[1] for words in COMMANDS} >= {"run", "rules", "backends", "defects", "judge", "report", "broker"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with the metadata of the project's drivers, for a checkout that is not installed."""
    folder = tmp_path_factory.mktemp("installed")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = [
        line
        for group, places in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in places.items()))
    ]
    told = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (told / "entry_points.txt").write_text("\n".join([*points, ""]))
    return folder


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_as_it_stands(example: str, installed: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, "-W", "error", "-c", example],
        env={"PYTHONPATH": ":".join(path for path in [*sys.path, str(installed)] if path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("example", TESTS)
def test_a_test_passes_as_it_stands(example: str, installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(example)
    done = subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(path for path in [*sys.path, str(installed)] if path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_servers_file_can_be_read_and_its_options_are_those_there_are(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", BROKER, re.DOTALL)
    (tmp_path / "broker.toml").write_text(example)
    found = launch(asked({}), read_file(tmp_path / "broker.toml"))
    assert found.server.limits == {"max_connections": 10_000, "max_queues": 10_000}

    group = typer.main.get_command(application())
    assert isinstance(group, typer.core.TyperGroup)
    there = {option for one in group.commands["broker"].params for option in one.opts}
    told = {
        option
        for row in re.findall(r"^\| (`--.*?) \|", BROKER, re.MULTILINE)
        for option in re.findall(r"--[a-z-]+", row)
    }
    assert told == there - {"--help"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_line_parses(words: list[str]) -> None:
    group = typer.main.get_command(application())
    assert isinstance(group, typer.core.TyperGroup)
    command, (name, *arguments) = group.commands[words[1]], words[1:]
    if isinstance(command, typer.core.TyperGroup):
        command, (name, *arguments) = command.commands[arguments[0]], arguments
    context = command.make_context(name, arguments)
    assert set(context.params) == {parameter.name for parameter in command.params if parameter.expose_value}


@pytest.mark.parametrize("words", [words for words in INLINE if words[0] == "pytest"], ids=" ".join)
def test_a_pytest_line_has_options_that_exist(words: list[str]) -> None:
    ours = {word.partition("=")[0] for word in words if word.startswith("--assay-")}
    assert ours <= {name for name, _ in OPTIONS}


@pytest.mark.parametrize("target", [words[1:] for words in CONSOLE if words[0] == "make"], ids=" ".join)
def test_a_make_target_exists(target: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in target)


def test_make_help_explains_each_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    explained = re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE)
    assert "help" in explained
    assert sorted(explained) == sorted(phony.split())


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists(), f"README links {link}, which is not there"
