"""Tests of a ready file that a killed server has left."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay_broker.server.errors import OptionsError
from assay_broker.server.options import ServerOptions
from assay_broker.server.running import Ready, _forget_dead


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Provide the ready file of a killed server with the folder ``data``; another process now has its process id."""
    path = tmp_path / "ready.json"
    told = Ready(name="ASSAY", amqp="amqp://127.0.0.1:1", http=None, data=str(tmp_path / "data"), pid=1)
    path.write_bytes(msgspec.json.encode(told))
    return path


def test_it_goes_when_the_folder_has_another_server(ready: Path) -> None:
    _forget_dead(ready, ServerOptions(data=ready.parent / "data"))
    assert not ready.exists()


@pytest.mark.parametrize("data", ["other", None])
def test_that_of_another_folder_stays(ready: Path, data: str | None) -> None:
    _forget_dead(ready, ServerOptions(data=None if data is None else ready.parent / data))
    assert ready.exists()


def test_a_file_that_no_server_wrote_stays(tmp_path: Path) -> None:
    text = tmp_path / "ready.json"
    text.write_text("something else")
    _forget_dead(text, ServerOptions(data=tmp_path / "data"))
    assert text.exists()
    _forget_dead(tmp_path / "none.json", ServerOptions(data=tmp_path / "data"))


def test_a_ready_file_that_cannot_be_removed_is_reported(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path, *, missing_ok: bool) -> None:
        del missing_ok
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OptionsError, match=r"ready\.json cannot be written: Operation not permitted"):
        _forget_dead(ready, ServerOptions(data=ready.parent / "data"))
