"""Tests of writing into a users' file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.security import Users
from assay_broker.security.users import LEAST_ITERATIONS
from assay_broker.server.accounts import add_user, users_text
from assay_broker.server.errors import MachineError, OptionsError

FEW = LEAST_ITERATIONS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "users.toml"


def test_a_user_is_written_and_the_password_is_not(path: Path) -> None:
    assert not add_user(path, "alice", "pencil")
    assert "pencil" not in path.read_text()
    assert "iterations = 600000\n" in path.read_text()
    assert Users.read(path).check("alice", "pencil")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_user_leaves_the_first_and_every_remark_as_they_are(path: Path) -> None:
    add_user(path, "alice", "pencil", FEW)
    path.write_text(f"# ours\n{path.read_text()}")
    path.chmod(0o640)
    add_user(path, "bob.b", "rubber", FEW)
    users = Users.read(path)
    assert users.check("alice", "pencil")
    assert users.check("bob.b", "rubber")
    assert path.read_text().startswith("# ours\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_user_who_is_there_gets_another_password(path: Path) -> None:
    for name in ("alice", "bob", "carol"):
        add_user(path, name, "first", FEW)
    assert add_user(path, "bob", "second", FEW)
    users = Users.read(path)
    assert users.names == ("alice", "carol", "bob")
    assert users.check("bob", "second")
    assert not users.check("bob", "first")
    assert users.check("carol", "first")


@given(names=st.lists(st.sampled_from(["a", "b.c", 'd"e', "f g", "[h]", "ü"]), min_size=1, max_size=6))
def test_whatever_users_are_called_the_file_stays_one(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("users") / "users.toml"
    for number, name in enumerate(names):
        add_user(path, name, f"p{number}", FEW)
    users = Users.read(path)
    assert set(users.names) == set(names)


def test_unusable_users_and_files_are_refused_with_the_reason(path: Path) -> None:
    with pytest.raises(OptionsError, match="the password is empty"):
        add_user(path, "alice", "")
    with pytest.raises(OptionsError, match="the user name"):
        add_user(path, "", "pencil")
    assert not path.exists()
    path.write_text("users = 1")
    with pytest.raises(OptionsError, match="only tables"):
        add_user(path, "alice", "pencil")


def test_an_entry_in_another_form_of_toml_is_left_alone(path: Path) -> None:
    add_user(path, "alice", "pencil", FEW)
    fields = ", ".join(path.read_text().splitlines()[1:])
    path.write_text(f"users.alice = {{ {fields} }}\n")
    with pytest.raises(OptionsError, match="remove that entry"):
        add_user(path, "alice", "other")
    assert Users.read(path).check("alice", "pencil")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot be written: No such file"):
        add_user(tmp_path / "nowhere" / "users.toml", "alice", "pencil")


def test_a_whole_file_can_be_had_as_text(path: Path) -> None:
    path.write_text(users_text({"app": "one", "mqm": "two"}, FEW))
    assert Users.read(path).check("mqm", "two")
