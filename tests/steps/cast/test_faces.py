"""Tests of the choice of the client's face for a scenario."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import Struct

from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Client, ClientIdentity, ClientObserver, Endpoint, Source
from assay_adapters.ports.client import ClientConnection as Connection
from assay_adapters.ports.outcome import JmsErrorKind, Outcome, Refused
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_steps.cast.faces import Faces, faces_for

PLAIN, QOS, XA = Capability.SELECTOR, Capability.QUALITY_OF_SERVICE, Capability.XA


class Able(Struct, frozen=True):
    """A client with exactly the given capabilities."""

    identity: ClientIdentity
    capabilities: Mapping[Capability, Source]

    def observe(self, observer: ClientObserver) -> None:
        """Do nothing: this client has no events."""

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[Connection]:
        """Refuse the connection."""
        del client_id, login, checks
        return Refused(JmsErrorKind.CONNECTION_LOST, to.url)


def able(face: str, *capabilities: Capability) -> Client:
    name = "mqlight" if face == "mqlight" else "classic" if face == "classic" else "simplified"
    return Able(ClientIdentity("It", "1", name, ours=True), dict.fromkeys(capabilities, Source("it says so")))


CLIENTS = {
    "simplified": able("simplified", PLAIN),
    "classic": able("classic", PLAIN, XA),
    "mqlight": able("mqlight", QOS),
}


@pytest.mark.parametrize(
    ("needs", "asked", "face"),
    [
        ((), None, "simplified"),
        ((), "mqlight", "mqlight"),
        ((QOS,), None, "mqlight"),
        ((QOS,), "classic", "mqlight"),
        ((PLAIN,), "classic", "classic"),
        ((PLAIN, XA), None, "classic"),
        ((Capability.KILL,), None, "simplified"),
    ],
)
def test_the_face_asked_for_runs_it_or_the_first_that_can(
    needs: tuple[Capability, ...], asked: str | None, face: str
) -> None:
    faces = faces_for(CLIENTS, needs, asked)
    assert isinstance(faces, Faces)
    assert faces.chosen.identity.face == face
    assert faces.title == f"It 1 ({face})"


def test_what_no_face_can_do_alone_is_unsupported() -> None:
    lacking = faces_for(CLIENTS, (QOS, XA))
    assert isinstance(lacking, Unsupported)
    assert lacking.capability == "quality-of-service, xa"
    assert "none of simplified, classic, mqlight has all" in lacking.source.text


def test_an_unknown_face_is_named_with_the_nearest() -> None:
    with pytest.raises(LookupError, match="classic"):
        Faces(CLIENTS, "clasic")
