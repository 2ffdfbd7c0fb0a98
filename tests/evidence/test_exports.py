from __future__ import annotations

import assay_evidence


def test_the_face_exports_what_it_lists_in_order() -> None:
    assert sorted(assay_evidence.__all__) == assay_evidence.__all__
    assert all(hasattr(assay_evidence, name) for name in assay_evidence.__all__)
