"""Backends by name, and what may be asked of which."""

from __future__ import annotations

from typing import Any

import pytest

from assay_adapters.registry import BACKENDS, BackendOptions, NotOursError, UnknownBackendError, open_backend
from assay_adapters.suggestions import SHOWN, unknown


@pytest.mark.parametrize("name", [*BACKENDS, *(f"{name}+amqp" for name in BACKENDS)])
def test_a_backend_opens_by_its_name_with_and_without_its_default_protocol(name: str) -> None:
    backend = open_backend(name)
    assert backend.name == name.removesuffix("+amqp")
    backend.close()


@pytest.mark.parametrize(
    ("name", "nearest"), [("refrence", "reference"), ("Artemis", "artemis"), ("artemis+stomp", "artemis")]
)
def test_of_an_unknown_backend_the_nearest_is_named(name: str, nearest: str) -> None:
    with pytest.raises(UnknownBackendError, match=f"did you mean '{nearest}'"):
        open_backend(name)


def test_where_none_is_near_all_are_named() -> None:
    with pytest.raises(UnknownBackendError, match="there is reference, reference-server, reference-container, artemis"):
        open_backend("zzz")


def test_of_many_names_a_sentence_shows_a_few() -> None:
    names = [f"name-{number}" for number in range(SHOWN + 3)]
    assert unknown("thing", "zzz", names).endswith(f"name-{SHOWN - 1} and 3 more.")


@pytest.mark.parametrize(
    "options", [BackendOptions(defect="early-delivery"), BackendOptions(wire=lambda driver: driver)]
)
def test_a_real_broker_has_no_defects_to_switch_on(options: BackendOptions) -> None:
    with pytest.raises(NotOursError, match="those with defects: reference"):
        open_backend("artemis", options)


def test_a_real_broker_brings_its_own_store() -> None:
    with pytest.raises(NotOursError, match="brings its own store"):
        open_backend("artemis", BackendOptions(store="memory"))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"store": "memry"}, "no store 'memry'; did you mean 'memory'"),
        ({"defect": "early-delivry"}, "did you mean 'early-delivery'"),
    ],
)
def test_the_reference_broker_names_the_nearest_store_and_defect(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(LookupError, match=says):
        open_backend("reference", BackendOptions(**asked))


@pytest.mark.parametrize("name", BACKENDS)
def test_of_an_unknown_face_the_nearest_is_named(name: str) -> None:
    with pytest.raises(LookupError, match="classic"):
        open_backend(name).identity("clasic")
