"""Registers the contract suite, so that its asserts show their values, like those in test files."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.contract.suite")
