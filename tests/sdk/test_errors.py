from __future__ import annotations

import inspect
import pickle

import pytest

from assay_sdk import errors
from assay_sdk.errors import CHECKED, RUNTIME, JmsError, MessagingError, MessagingRuntimeError, XAError
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.model.xa import KINDS, XaCode, xa_refused


def test_every_kind_has_a_class_in_both_branches() -> None:
    assert set(CHECKED) == set(RUNTIME) == set(JmsErrorKind)


def test_every_class_stands_for_one_kind() -> None:
    classes = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, JmsError)}
    assert classes == {JmsError, XAError, *CHECKED.values(), *RUNTIME.values()}
    assert len(set(CHECKED.values())) == len(set(RUNTIME.values())) == len(JmsErrorKind)


def test_the_tree_at_the_top_is_the_tree() -> None:
    classes: list[type[JmsError]] = [JmsError, XAError, *CHECKED.values(), *RUNTIME.values()]
    drawn = {line.strip("│├└─ ") for line in (errors.__doc__ or "").splitlines() if line.startswith("    ")}
    assert drawn == {kind.__name__ for kind in classes}


@pytest.mark.parametrize("kind", JmsErrorKind)
def test_the_branches_differ_in_their_root_alone(kind: JmsErrorKind) -> None:
    refusal = Refused(kind, "a sentence", mqrc=2053, objects=("Q",))
    checked, runtime = CHECKED[kind](refusal), RUNTIME[kind](refusal)
    assert isinstance(checked, MessagingError)
    assert isinstance(runtime, MessagingRuntimeError)
    assert not isinstance(checked, MessagingRuntimeError)
    for error in (checked, runtime):
        assert error.kind is kind
        assert error.reason is Mqrc.Q_FULL
        assert error.objects == ("Q",)
        assert error.text == str(error) == "a sentence"


def test_a_reason_that_the_table_does_not_know_is_kept_as_a_number() -> None:
    error = MessagingError(Refused(JmsErrorKind.MESSAGING, "x", mqrc=9999))
    assert error.reason is None
    assert error.refused.mqrc == 9999


def test_an_error_survives_pickling() -> None:
    error = CHECKED[JmsErrorKind.SECURITY](refused(Mqrc.NOT_AUTHORIZED, "no", "Q"))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    assert type(again) is type(error)
    assert again.refused == error.refused


def test_an_xa_error_says_its_code() -> None:
    assert XAError(xa_refused(XaCode.XAER_NOTA, "no such branch.")).code is XaCode.XAER_NOTA
    assert set(KINDS) == set(XaCode)
