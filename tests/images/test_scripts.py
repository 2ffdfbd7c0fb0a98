"""Tests of the scripts of ``images/``: messages about missing tools, and no repeated work.

A fake ``docker`` on the path replaces the daemon, so no test needs one.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

IMAGES = Path(__file__).resolve().parents[2] / "images"
TOOLS = [
    "bash",
    "cat",
    "cp",
    "cut",
    "dirname",
    "env",
    "find",
    "head",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "sed",
    "sha256sum",
    "sort",
    "tail",
    "timeout",
    "xargs",
]

DOWNLOAD = 'for each; do [[ $each == -DoutputDirectory=* ]] && : >"${each#*=}/distribution.tar.gz"; done; true'
"""Script of a fake ``mvn`` that puts an empty file where the real one puts a download."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Provide a folder with only a shell's basic tools, as the whole ``PATH``."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    return folder


def fake(path: Path, name: str, script: str) -> None:
    """Put an executable shell script on the path."""
    program = path / name
    program.write_text(f"#!/usr/bin/env bash\n{script}\n")
    program.chmod(0o755)


def run(path: Path, script: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a script of ``images/`` that sees only ``path`` and ``environment``."""
    variables = {"PATH": str(path), "HOME": str(path.parent), "TMPDIR": str(path.parent), **environment}
    bash = os.fspath(path / "bash")
    return subprocess.run(  # noqa: S603 - our own scripts, with arguments of our own
        [bash, str(IMAGES / script), *arguments], env=variables, capture_output=True, text=True, check=False, timeout=30
    )


def only_line(answer: "subprocess.CompletedProcess[str]") -> str:
    """Return the single line of a refusal."""
    assert answer.returncode == 1
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    return line


def test_an_unknown_image_is_refused_and_the_known_ones_are_named(path: Path) -> None:
    assert only_line(run(path, "build", "artemus")) == (
        "images/build: unknown image or option 'artemus'; "
        "the images are: activemq, artemis, broker-j, rabbitmq, reference."
    )


def test_a_build_without_a_name_says_what_to_say(path: Path) -> None:
    assert "images/build artemis" in only_line(run(path, "build"))


def test_a_build_without_docker_names_the_way_to_get_it(path: Path) -> None:
    assert "images/start-docker --install" in only_line(run(path, "build", "artemis"))


def test_a_build_without_a_daemon_names_the_script_that_starts_one(path: Path) -> None:
    fake(path, "docker", "exit 1")
    assert (
        only_line(run(path, "build", "artemis")) == "images/build: no Docker daemon answers; run 'images/start-docker'."
    )


def test_a_build_without_maven_says_that_maven_is_missing_and_leaves_nothing_behind(path: Path) -> None:
    fake(path, "docker", "[[ $1 == info ]]")
    assert "install Maven" in only_line(run(path, "build", "artemis"))
    assert [entry.name for entry in path.parent.iterdir()] == ["bin"]


def test_an_image_with_the_same_content_is_not_built_again(path: Path) -> None:
    # This fake daemon keeps the label of each image's first build, and counts the builds.
    fake(
        path,
        "docker",
        'case "$1 $2" in\n'
        "  info*) ;;\n"
        '  "image inspect") [[ -e $HOME/label ]] && cat "$HOME/label" ;;\n'
        '  build*) echo built >>"$HOME/builds"; while [[ $1 != --label ]]; do shift; done\n'
        '    printf "%s\\n" "${2#assay.content=}" >"$HOME/label" ;;\n'
        "esac",
    )
    fake(path, "mvn", DOWNLOAD)
    base = {"ASSAY_IMAGE_BASE": "some/base:1"}

    first, second = run(path, "build", "artemis", **base), run(path, "build", "artemis", **base)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert second.stdout == "assay/artemis:2.56.0 is up to date.\n"
    assert run(path, "build", "artemis", ASSAY_IMAGE_BASE="some/base:2").returncode == 0
    assert (path.parent / "builds").read_text().splitlines() == ["built", "built"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a base image")
def test_one_run_makes_the_bases_of_two_releases_of_debian(path: Path) -> None:
    # As the real debootstrap does, the fake one refuses a folder that has files.
    fake(path, "debootstrap", '[[ ! -e $3 ]] && mkdir "$3" && echo "$2" >>"$HOME/made"')
    fake(path, "apt-get", "echo http://some.mirror bookworm main")
    fake(path, "mvn", DOWNLOAD)
    fake(path, "python3", "exit 0")
    fake(path, "docker", '[[ $1 != import ]] || cat >/dev/null; [[ $1 != pull && "$1 $2" != "image inspect" ]]')
    for tool in ("awk", "tar"):
        found = shutil.which(tool)
        assert found is not None
        (path / tool).symlink_to(found)

    answer = run(path, "build", "broker-j", "reference")
    assert answer.returncode == 0, answer.stderr
    assert (path.parent / "made").read_text().split() == ["trixie", "bookworm"]


def test_a_daemon_that_answers_is_left_alone(path: Path) -> None:
    fake(path, "docker", "exit 0")
    fake(path, "dockerd", 'echo started >"$HOME/started"')
    answer = run(path, "start-docker")
    assert (answer.returncode, answer.stdout) == (0, "A Docker daemon answers already.\n")
    assert not (path.parent / "started").exists()


def test_a_daemon_elsewhere_that_does_not_answer_is_not_replaced_by_one_here(path: Path) -> None:
    fake(path, "docker", "exit 1")
    fake(path, "dockerd", 'echo started >"$HOME/started"')
    assert "unset DOCKER_HOST" in only_line(run(path, "start-docker", DOCKER_HOST="tcp://127.0.0.1:1"))
    assert not (path.parent / "started").exists()


def test_a_missing_engine_is_named_with_the_option_that_installs_it(path: Path) -> None:
    assert "--install" in only_line(run(path, "start-docker"))


@pytest.mark.parametrize("script", ["build", "start-docker"])
def test_help_is_the_head_of_the_script(path: Path, script: str) -> None:
    answer = run(path, script, "--help")
    assert answer.returncode == 0
    assert f"images/{script}" in answer.stdout
    assert "#" not in answer.stdout
