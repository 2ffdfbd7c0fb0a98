"""Tests of ``assay clean``, with folders of ended processes and a container whose owner has ended."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.commands.clean import sentences
from assay.exits import Exit
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.containers.container import OWNER_LABEL, probe_image
from assay_adapters.containers.removal import Swept
from assay_adapters.leftovers import Leftovers
from assay_adapters.owners import Owner
from assay_adapters.ports.backend import Unavailable

NOTHING = "Ended runs have left no container, process, volume or temporary folder here."


@pytest.fixture
def ended() -> Owner:
    pid = os.posix_spawnp("true", ["true"], os.environ)
    owner = Owner.of(pid)
    os.waitpid(pid, 0)
    return owner


def test_what_was_removed_is_told_and_the_second_call_finds_nothing(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: Owner
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    left = tmp_path / f"assay-store-{ended.name}-x"
    left.mkdir()
    first, second = assay("clean"), assay("clean")
    assert (first.code, second.code) == (Exit.AS_EXPECTED, Exit.AS_EXPECTED)
    unasked = "Containers and volumes were not looked for: Docker does not answer"
    for told, line in ((first.out, f"Removed 1 temporary folder: {left}."), (second.out, NOTHING)):
        assert told.splitlines()[0] == line
        assert told.splitlines()[1].startswith(unasked)


def test_each_kind_has_its_sentence() -> None:
    containers = (Swept("brave_box", 1), Swept("calm_box", 1))
    removed = Leftovers(containers=containers, processes=(7,), folders=(Path("a"), Path("b")), running=2)
    assert list(sentences(removed)) == [
        "Removed 2 containers with 2 volumes: brave_box, calm_box.",
        "Ended 1 process: 7.",
        "Removed 2 temporary folders: a, b.",
        "Kept everything of 2 running processes of Assay.",
    ]
    assert list(sentences(Leftovers())) == [NOTHING]


@pytest.mark.docker
def test_a_container_is_removed_with_its_volume_if_its_owner_has_ended(assay: Assay, ended: Owner) -> None:
    docker = pytest.importorskip("docker", reason="the Python package docker is not installed")
    image = ARTEMIS.images[0]
    if isinstance(probe_image((image,), "", remedy=""), Unavailable):
        pytest.skip(f"there is no Docker daemon with {image}: build it with images/build artemis")
    with closing(docker.from_env()) as daemon:
        made = [
            daemon.containers.create(image, labels={OWNER_LABEL: owner.name}, volumes=["/somewhere"])
            for owner in (ended, Owner.of(os.getpid()))
        ]
        left, mine = made
        try:
            names = {mount["Name"] for mount in daemon.api.inspect_container(left.id)["Mounts"]}
            told = assay("clean")
            there = {one.id for one in daemon.containers.list(all=True, ignore_removed=True)}
            assert left.id not in there
            assert mine.id in there
            assert left.name in told.out
            assert mine.name not in told.out
            assert names
            assert not names & {volume.name for volume in daemon.volumes.list()}
        finally:
            for one in made:
                try:
                    one.remove(force=True, v=True)
                except docker.errors.NotFound:
                    continue
