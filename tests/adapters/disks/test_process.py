"""Tests of the disk's process: its end, what a killed process leaves, and its removal."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.waiting import until

from assay_adapters.disks import process
from assay_adapters.disks.mounts import unmount_below
from assay_adapters.disks.process import Disk, probe
from assay_adapters.leftovers import remove_folders
from assay_adapters.ports.backend import BackendError, Unavailable

HOLDER = """
import sys
from assay_adapters.disks.process import Disk
disk = Disk()
disk.start()
(disk.path / "file").write_bytes(b"octets")
print(disk.path, disk._process.pid, flush=True)
sys.stdin.read()
"""
"""A process of the kit with a disk, which runs until it is killed."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep temporary folders in a folder of the test's own, because other tests leave some, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def held() -> tuple[subprocess.Popen[str], Path, int]:
    """Start a process with a disk; return it, the mount point and the id of the disk's process."""
    command = [sys.executable, "-c", HOLDER]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
    assert holder.stdout is not None
    path, pid = holder.stdout.readline().split()
    return holder, Path(path), int(pid)


def kill(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.communicate()


def pid_of(disk: Disk) -> int:
    assert disk._process is not None
    return disk._process.pid


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("fuse")
def test_the_content_of_a_disk_in_a_lasting_folder_stays(tmp_path: Path) -> None:
    for octets in (b"first", b"second"):
        disk = Disk(tmp_path)
        disk.start()
        with (disk.path / "file").open("ab") as file:
            file.write(octets)
        disk.close()
        disk.close()
        assert not disk.path.is_mount()
    assert (tmp_path / "content" / "file").read_bytes() == b"firstsecond"


@pytest.mark.usefixtures("fuse")
def test_a_temporary_disk_leaves_nothing() -> None:
    disk = Disk()
    disk.start()
    pid = pid_of(disk)
    disk.close()
    assert not disk.path.parent.exists()
    assert not is_running(pid)


@pytest.mark.usefixtures("fuse")
def test_a_killed_kit_leaves_no_mount_and_no_process() -> None:
    holder, path, pid = held()
    kill(holder)
    until(lambda: not is_running(pid), "the disk's process ends")
    assert not path.is_mount()
    assert path.parent in remove_folders()[1]


@pytest.mark.usefixtures("fuse")
def test_a_disk_in_use_ends_with_the_kit() -> None:
    holder, path, pid = held()
    with (path / "file").open("rb"):
        kill(holder)
        until(lambda: not is_running(pid), "the disk's process ends")
    remove_folders()
    assert not path.parent.exists()


@pytest.mark.usefixtures("fuse")
def test_a_dead_mount_of_an_ended_kit_is_removed() -> None:
    holder, path, pid = held()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_running(pid), "the disk's process ends")
    with pytest.raises(OSError, match=str(path)) as caught:
        list(path.iterdir())
    assert caught.value.errno in {errno.ENOTCONN, errno.ECONNABORTED}
    kill(holder)
    assert path.parent in remove_folders()[1]
    assert not path.parent.exists()


@pytest.mark.usefixtures("fuse")
def test_a_folder_with_a_living_mount_of_an_ended_kit_is_removed() -> None:
    holder, path, pid = held()
    os.kill(pid, signal.SIGSTOP)  # so it does not notice the end of its input
    kill(holder)
    assert remove_folders() == ((pid,), (path.parent,))


def test_a_disk_whose_process_was_killed_says_so_and_can_start_again(disk: Disk) -> None:
    (disk.path / "file").write_bytes(b"octets")
    os.kill(pid_of(disk), signal.SIGKILL)
    pid = pid_of(disk)
    until(lambda: not is_running(pid), "the disk's process ends")
    with pytest.raises(BackendError, match=f"the file system of the disk at {disk.path} has ended"):
        disk.slow(1)
    disk.start()
    assert (disk.path / "file").read_bytes() == b"octets"


@pytest.mark.usefixtures("fuse")
def test_a_disk_that_cannot_be_mounted_reports_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_MODULE", "assay_adapters.absent")
    disk = Disk()
    with pytest.raises(BackendError, match="No module named"):
        disk.start()
    assert not disk.path.parent.exists()


@pytest.mark.usefixtures("fuse")
def test_a_mount_point_with_a_space_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    disk = Disk(folder)
    disk.start()
    assert unmount_below(folder) == (disk.path,)
    assert unmount_below(folder) == ()
    disk.close()


def test_the_probe_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device = tmp_path / "fuse"
    device.touch()
    monkeypatch.setattr(process, "_DEVICE", device)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(process, "find_library", lambda _name: "libfuse3.so.3")
    monkeypatch.setattr(process, "find_spec", lambda _name: None)
    assert probe() == Unavailable("the package mfusepy is missing", "install it: pip install 'assay-mq[power]'")
    monkeypatch.setattr(process, "find_library", lambda _name: None)
    assert probe() == Unavailable("libfuse 3 is missing", "install it, for example with: apt-get install fuse3")
    monkeypatch.setattr(process, "_DEVICE", tmp_path)
    assert probe() == Unavailable(
        f"{tmp_path} cannot be opened (Is a directory)", "in a container, add --device /dev/fuse --cap-add SYS_ADMIN"
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    assert probe() == Unavailable("only root can create files for the users of a container", "run the command as root")
    monkeypatch.setattr(process, "_DEVICE", tmp_path / "absent")
    found = probe()
    assert isinstance(found, Unavailable)
    assert found.reason.startswith("the kernel offers no FUSE")


def test_the_disk_of_this_process_is_in_a_folder_of_its_own(disk: Disk) -> None:
    assert disk.path.parent.name.startswith("assay-disk-")
    assert disk.path.parent.parent == Path(tempfile.gettempdir())
