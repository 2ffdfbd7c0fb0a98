"""The report formats for machines, except `verdicts.json`, which `assay_evidence` writes."""

import msgspec

from assay_features import Catalogue


def rules_json(catalogue: Catalogue) -> bytes:
    """Encode the catalogue's entries, as `assay rules --json` prints them.

    Returns:
        An indented JSON list with one object for each rule, in the catalogue's order, and a newline at the end.
    """
    return msgspec.json.format(msgspec.json.encode(catalogue.rules), indent=2) + b"\n"
