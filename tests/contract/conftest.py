"""The suite's asserts are shown with their values, as those of test files are."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.contract.suite")
