from __future__ import annotations

import pytest

from assay_features import load_catalogue
from assay_steps.defects import all_defects
from assay_steps.defects.batch import BATCH_DEFECTS
from assay_steps.defects.model import Defect


@pytest.mark.parametrize("defect", BATCH_DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_of_batches_breaks_rules_that_there_are(defect: Defect) -> None:
    assert {rule.id for rule in load_catalogue().select(ids=defect.rules)} == set(defect.rules)


@pytest.mark.parametrize("defect", BATCH_DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_of_batches_stands_at_the_port_or_on_the_wire(defect: Defect) -> None:
    assert (defect.port or defect.wire) is not None
    assert defect.broker is None


def test_no_defect_bears_the_name_of_another() -> None:
    known = all_defects()
    assert all(known[defect.name] is defect for defect in BATCH_DEFECTS)
