"""Asserts in the contract suite show their values, as those in test files do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.contract.suite")
