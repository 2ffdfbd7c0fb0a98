"""The predicate about the end of a fault: comes-back."""

from __future__ import annotations

from assay_evidence.errors import ClaimError
from assay_evidence.events import Claim
from assay_evidence.history import History
from assay_evidence.predicates.claims import Saying, reference
from assay_evidence.verdicts import Finding


def comes_back(claim: Claim, history: History) -> Finding:
    """Decide whether the broker came back from a fault.

    Only the end of the fault in the journal shows that.  The claim's reference `said` holds the broker's error.

    Raises:
        ClaimError: The journal has no fault of this id.
    """
    name = reference(claim, "fault")
    fault = next((one for one in history.faults if one.begin.id == name), None)
    if fault is None:
        raise ClaimError(f"The claim {claim.ref} names the fault {name}, which is not in the journal.")
    say = Saying(claim, f"{fault.begin.target} comes back from the {fault.begin.what} with its own files")
    if fault.end is not None:
        return say.passed("The broker came back.", f"back at {fault.end.ref}", certain=True)
    said = claim.of.get("said", "")
    return say.failed(f"The broker did not come back: {said}", said or "no end", by=[fault.begin], certain=True)
