from __future__ import annotations

from collections import defaultdict

import pytest

from assay_sdk.drivers.amqp.errors import _STATED
from assay_sdk.errors import CHECKED, RUNTIME
from assay_sdk.model.command_reasons import COMMAND_MEANINGS, Mqrccf
from assay_sdk.model.reasons import REASONS, JmsErrorKind, Mqrc, refused

CONDITIONS = {
    # OASIS AMQP 1.0, 2.8.15 to 2.8.17, 4.5.8
    "amqp:internal-error",
    "amqp:not-found",
    "amqp:unauthorized-access",
    "amqp:resource-limit-exceeded",
    "amqp:not-allowed",
    "amqp:invalid-field",
    "amqp:not-implemented",
    "amqp:resource-locked",
    "amqp:precondition-failed",
    "amqp:resource-deleted",
    "amqp:illegal-state",
    "amqp:connection:forced",
    "amqp:link:message-size-exceeded",
    "amqp:transaction:rollback",
}


def test_every_code_has_one_row_and_rows_go_by_number() -> None:
    assert list(REASONS) == list(Mqrc) == sorted(Mqrc)
    assert list(COMMAND_MEANINGS) == list(Mqrccf) == sorted(Mqrccf)


def test_no_number_is_both_a_reason_and_a_command_reason() -> None:
    assert not {int(code) for code in Mqrc} & {int(code) for code in Mqrccf}


@pytest.mark.parametrize("code", Mqrc)
def test_a_reason_has_a_condition_of_amqp_and_an_error_in_both_faces(code: Mqrc) -> None:
    reason = REASONS[code]
    assert reason.condition in CONDITIONS
    assert reason.kind in CHECKED
    assert reason.kind in RUNTIME


def test_a_condition_that_several_classes_share_is_stated_and_not_left_to_the_order_of_rows() -> None:
    kinds: dict[str, set[JmsErrorKind]] = defaultdict(set)
    for reason in REASONS.values():
        kinds[reason.condition].add(reason.kind)
    assert {condition for condition, meant in kinds.items() if len(meant) > 1} <= set(_STATED)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (Mqrc.NOT_AUTHORIZED, JmsErrorKind.SECURITY),
        (Mqrc.UNKNOWN_ALIAS_BASE_Q, JmsErrorKind.INVALID_DESTINATION),
        (Mqrc.Q_FULL, JmsErrorKind.RESOURCE_ALLOCATION),
        (Mqrc.SYNCPOINT_LIMIT_REACHED, JmsErrorKind.RESOURCE_ALLOCATION),
        (Mqrc.OPTIONS_ERROR, JmsErrorKind.MESSAGING),
    ],
)
def test_a_refusal_by_its_code_has_the_codes_class(code: Mqrc, kind: JmsErrorKind) -> None:
    why = refused(code, "no", "Q")
    assert (why.kind, why.mqrc, why.objects) == (kind, int(code), ("Q",))


def test_a_label_is_ibms_name_with_the_number() -> None:
    assert Mqrc.Q_FULL.label == "MQRC_Q_FULL (2053)"
    assert Mqrccf.PARM_MISSING.label == "MQRCCF_PARM_MISSING (3228)"
