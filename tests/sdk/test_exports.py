"""Tests that `__all__` agrees with the modules' contents."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from types import FunctionType

import pytest

import assay_sdk
from assay_sdk import errors, faces
from assay_sdk.faces import classic, simplified


def test_everything_exported_is_there_once_and_sorted() -> None:
    assert sorted(set(assay_sdk.__all__)) == assay_sdk.__all__
    for name in assay_sdk.__all__:
        assert hasattr(assay_sdk, name)


def test_nothing_public_of_the_package_is_missing() -> None:
    modules = {module.name for module in pkgutil.iter_modules(assay_sdk.__path__)}
    public = {name for name in vars(assay_sdk) if not name.startswith("_")} - modules - {"annotations", "TYPE_CHECKING"}
    assert public <= set(assay_sdk.__all__)
    assert dir(assay_sdk) == assay_sdk.__all__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assay_sdk' has no attribute 'conect'"):
        _ = assay_sdk.conect  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # the test reads a wrong name


def test_the_import_leaves_out_what_few_programs_need() -> None:
    heavy = ("importlib.metadata", "email", "lark", "proton", "scramp", "asyncio", "urllib.parse")
    later = ("assay_sdk.faces.classic", "assay_sdk.faces.mqlight.client", "assay_sdk.runners.real")
    script = f"import sys, assay_sdk; print(*[name for name in {heavy + later} if name in sys.modules])"
    done = subprocess.run(  # noqa: S603  our own import, in a fresh interpreter
        [sys.executable, "-c", script],
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_every_error_is_exported() -> None:
    tree = {
        name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.JmsError)
    }
    assert tree <= set(assay_sdk.__all__)


@pytest.mark.parametrize("face", [classic, simplified])
def test_a_face_exports_what_it_defines_and_the_package_exports_it(face: object) -> None:
    exported = set(getattr(face, "__all__"))  # noqa: B009  the type of a module knows no __all__
    defined = {
        name
        for name, value in vars(face).items()
        if isinstance(value, type | FunctionType)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == getattr(face, "__name__", "")
    }
    assert defined <= exported
    assert exported <= set(assay_sdk.__all__)


def test_every_module_of_the_faces_imports_by_itself() -> None:
    for module in pkgutil.iter_modules(faces.__path__):
        importlib.import_module(f"assay_sdk.faces.{module.name}")
