"""Named defects of the reference pair: each proves that the scenarios of its rules can fail.

A defect is a filter in one of three places: at the broker's seams (`assay_broker.defects`), between the SDK's engine
and driver (on the ``wire``), or in front of the client (at the ``port``).  It never overrides a private method.

The first line of the docstring of a function or class that misbehaves says what the client does wrong.  `assay defects`
and the pages of docs/rules show this line.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.suggestions import unknown
from assay_broker.defects import DEFECTS as BROKER_DEFECTS
from assay_broker.defects import SWITCHES
from assay_broker.defects.model import by_name
from assay_steps.defects.batch import BATCH_DEFECTS
from assay_steps.defects.delay import DELAY_DEFECTS
from assay_steps.defects.model import Defect
from assay_steps.defects.persistence import PERSISTENCE_DEFECTS
from assay_steps.defects.qos import QOS_DEFECTS

CLIENT_DEFECTS: tuple[Defect, ...] = (
    *PERSISTENCE_DEFECTS,
    *DELAY_DEFECTS,
    *BATCH_DEFECTS,
    *QOS_DEFECTS,
)


def all_defects() -> Mapping[str, Defect]:
    """Return all defects by name, the broker's first."""
    broker = (
        Defect(name=defect.name, rules=defect.rules, text=defect.text, broker=defect.name)
        for defect in BROKER_DEFECTS.values()
    )
    return by_name((*broker, *CLIENT_DEFECTS))


def find_defect(name: str) -> Defect:
    """Return the defect with a name.

    The name may be that of a rare form of a broker's defect; only `assay soak` finds such a form.

    Raises:
        LookupError: No defect has the name; the error names the closest known one.
    """
    defects = all_defects()
    if name in defects:
        return defects[name]
    if name in SWITCHES:
        rare = SWITCHES[name]
        return Defect(name=rare.name, rules=rare.rules, text=rare.text, broker=rare.name)
    raise LookupError(unknown("defect", name, defects))
