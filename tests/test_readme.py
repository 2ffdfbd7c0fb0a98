"""What README and the pages beside it show works as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from assay.main import app
from assay_steps.entry import OPTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (README, (ROOT / "docs" / "mqlight.md").read_text(encoding="utf-8"))
EXAMPLES = [example for page in PAGES for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]
CONSOLE = [
    shlex.split(line.removeprefix("$ "), comments=True)
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
INLINE = [shlex.split(text) for text in re.findall(r"`((?:assay|pytest) [^`]+)`", README)]
COMMANDS = [words for words in (*CONSOLE, *INLINE) if words[0] == "assay"]


def test_readme_has_examples_and_commands() -> None:
    assert EXAMPLES
    assert {words[1] for words in COMMANDS} >= {"run", "rules", "backends", "defects", "judge", "report"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_as_it_stands(example: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, "-W", "error", "-c", example],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_line_parses(words: list[str]) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    command = group.commands[words[1]]
    context = command.make_context(words[1], words[2:])
    assert context.params


@pytest.mark.parametrize("words", [words for words in INLINE if words[0] == "pytest"], ids=" ".join)
def test_a_pytest_line_has_options_that_exist(words: list[str]) -> None:
    ours = {word.partition("=")[0] for word in words if word.startswith("--assay-")}
    assert ours <= {name for name, _ in OPTIONS}


@pytest.mark.parametrize("target", [words[1:] for words in CONSOLE if words[0] == "make"], ids=" ".join)
def test_a_make_target_exists(target: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in target)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists(), f"README links {link}, which is not there"
