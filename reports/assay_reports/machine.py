"""Forms for machines other than `verdicts.json`, which `assay_evidence` writes."""

import msgspec

from assay_features import Catalogue


def rules_json(catalogue: Catalogue) -> bytes:
    """Encode the catalogue's entries, as `assay rules --json` prints them.

    Returns:
        A JSON list with one object for each rule, in the catalogue's order, indented, with a newline at its end.
    """
    return msgspec.json.format(msgspec.json.encode(catalogue.rules), indent=2) + b"\n"
