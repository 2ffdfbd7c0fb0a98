"""Tests of files in containers: bytes in a stream of chunks, and missing containers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_adapters.containers.files import folder_holds, holds
from assay_adapters.ports.outcome import Refused


@given(st.lists(st.binary(max_size=6)), st.binary(min_size=1, max_size=4))
def test_octets_are_found_across_the_borders_of_chunks(chunks: list[bytes], octets: bytes) -> None:
    assert holds(chunks, octets) is (octets in b"".join(chunks))


def test_without_a_daemon_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert isinstance(folder_holds(1, ("/",), b"x"), Refused)


@pytest.mark.docker
def test_a_port_that_no_container_has_is_refused() -> None:
    answer = folder_holds(1, ("/",), b"x")
    assert isinstance(answer, Refused)
