"""The replacement of functions' code in this process."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType

from tools.mutation.mutants import Applied

FunctionKey = tuple[str, str, int]
"""The file, qualified name and first line of a function."""


class Functions:
    """The functions in this process that come from some source files.

    Args:
        files: The source files.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        wanted = {str(path) for path in files}
        self._by_key: dict[FunctionKey, list[FunctionType]] = defaultdict(list)
        gc.unfreeze()  # a run freezes earlier objects, and gc.get_objects() would leave them out
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in wanted:
                self._by_key[_key_of(one.__code__)].append(one)

    def swap(self, file: Path, applied: Applied) -> bool:
        """Replace the code of a mutant's changed functions.

        Args:
            file: The source file of the functions.
            applied: The mutant's code.

        Returns:
            Whether this process has at least one of the functions.
        """
        found = False
        for (name, line), code in applied.codes.items():
            for function in self._by_key.get((str(file), name, line), ()):
                function.__code__ = code
                found = True
        return found


def _key_of(code: CodeType) -> FunctionKey:
    return code.co_filename, code.co_qualname, code.co_firstlineno
