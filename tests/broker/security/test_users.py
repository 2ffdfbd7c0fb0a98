"""Tests of the users' file: the stored form of passwords, and malformed files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.security import Users, UsersError, entry, keys_of
from assay_broker.security.users import LEAST_ITERATIONS, MOST_ITERATIONS, prepared

FEW = LEAST_ITERATIONS
ALICE = keys_of("secret", FEW)
ENTRY = entry("alice", "secret", FEW)


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "users.toml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_user_of_the_file_gets_in_with_the_right_password_only(tmp_path: Path) -> None:
    users = Users.read(written(tmp_path, ENTRY + entry("bob", "other", FEW)))
    assert users.names == ("alice", "bob")
    assert users.check("alice", "secret")
    assert users.check("alice", "secret")  # a second check, which uses the remembered result
    assert not users.check("alice", "other")
    assert not users.check("bob", "secret")
    assert not users.check("carol", "secret")
    assert not users.check("alice", "")
    assert not users.check("", "")


@pytest.mark.parametrize("name", ['o"neil', "a.b", "zoë", "a b", "back\\slash", "#1"])
def test_an_entry_can_be_read_whatever_the_name(tmp_path: Path, name: str) -> None:
    assert Users.read(written(tmp_path, entry(name, "secret", FEW))).names == (name,)


def test_neither_the_entry_nor_what_is_shown_of_it_holds_the_password() -> None:
    assert "secret" not in ENTRY
    assert repr(ALICE) == f"ScramKeys(iterations={FEW})"


def test_the_same_password_is_kept_differently_each_time() -> None:
    assert ALICE.stored_key != keys_of("secret", FEW).stored_key


def test_names_and_passwords_count_in_the_form_in_which_clients_send_them() -> None:
    users = Users({"alice": keys_of("Ⅸ", FEW)})
    assert users.check("\uff41lice", "IX")
    assert prepared("\uff41lice") == "alice"


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_name_and_no_password_breaks_the_check(user: str, password: str) -> None:
    assert not USERS.check(user, password)


USERS = Users({"alice": keys_of("a password that is longer than any that is tried", FEW)})


def test_an_unknown_user_seems_to_have_the_same_salt_each_time() -> None:
    first, second = USERS.decoy("mallory"), USERS.decoy("mallory")
    assert (first.salt, first.iterations) == (second.salt, second.iterations) == (first.salt, FEW)
    assert USERS.decoy("trent").salt != first.salt
    assert USERS.scram("mallory") is None


def test_iterations_do_not_tell_users_from_others_in_a_file_with_old_and_new_entries() -> None:
    old, new = keys_of("one", FEW), keys_of("two", FEW + 1)
    users = Users({"old": old, "new": new})
    seen = [users.decoy(f"nobody {number}").iterations for number in range(200)]
    assert set(seen) == {FEW, FEW + 1}
    assert seen == [users.decoy(f"nobody {number}").iterations for number in range(200)]
    assert users.check("old", "one")
    assert users.check("new", "two")


def test_a_remembered_password_is_remembered_for_its_user_only() -> None:
    users = Users({"alice": ALICE, "bob": keys_of("secret", FEW)})
    assert not users.remembers("alice", "secret")
    assert users.check("alice", "secret")
    assert users.remembers("alice", "secret")
    assert users.remembers("\uff41lice", "secret")
    assert not users.remembers("bob", "secret")
    assert not users.remembers("alice", "Secret")
    assert not users.remembers("", "")
    assert not users.check("mallory", "secret")
    assert not users.remembers("mallory", "secret")


def test_a_new_entry_has_as_many_iterations_as_owasp_recommends_and_can_be_used(tmp_path: Path) -> None:
    text = entry("alice", "secret")
    assert "iterations = 600000\n" in text
    assert Users.read(written(tmp_path, text)).check("alice", "secret")


@pytest.mark.parametrize(("name", "password"), [("", "x"), ("\0", "x"), ("alice", ""), ("alice", "\0")])
def test_a_name_or_password_that_no_client_can_send_makes_no_entry(name: str, password: str) -> None:
    with pytest.raises(UsersError, match=r"choose another|choose one"):
        entry(name, password, FEW)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[users.alice]\nsalt = \n", "not valid TOML: .*line 2.*correct"),
        ("[user.alice]", "'user', and only tables"),
        ("users = 3", "'users', and only tables"),
        ('[users.alice]\npassword = "secret"', r"users\.alice in .* holds a password"),
        ("[users.alice]\niterations = 5000", r"users\.alice in .* is not a valid entry .*salt"),
        ("users.alice = 3", r"users\.alice in .* is not a valid entry"),
        (ENTRY + "colour = 1\n", "not a valid entry .*colour"),
        (ENTRY.replace(f"iterations = {FEW}", "iterations = 1"), "has 1 iterations, not"),
        (ENTRY.replace(f"iterations = {FEW}", f"iterations = {MOST_ITERATIONS + 1}"), "iterations, not"),
        (
            '[users.a]\nsalt = "AAAA"\niterations = 5000\nstored_key = "AAAA"\nserver_key = "AAAA"',
            "a key that is not 32",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsersError, match=says) as refused:
        Users.read(path)
    assert str(path) in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_short_salt_is_refused(tmp_path: Path) -> None:
    lines = ENTRY.splitlines()
    lines[1] = 'salt = "AAAA"'
    with pytest.raises(UsersError, match="salt shorter"):
        Users.read(written(tmp_path, "\n".join(lines)))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsersError, match=r"cannot be read .*correct its path"):
        Users.read(tmp_path / "none.toml")
    path = tmp_path / "users.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(UsersError, match="UTF-8"):
        Users.read(path)


def test_a_file_that_anybody_may_write_to_is_refused_and_one_that_anybody_may_read_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(UsersError, match="chmod o-w"):
        Users.read(written(tmp_path, ENTRY, 0o602))
    assert Users.read(written(tmp_path, ENTRY, 0o644)).exposed
    assert not Users.read(written(tmp_path, ENTRY, 0o640)).exposed
