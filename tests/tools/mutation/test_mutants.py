from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tools.mutation.mutants import Applied, Module, Mutant
from tools.mutation.swapping import Functions

TEXT = """
    class Counter:
        def __init__(self, most: int) -> None:
            self.most = most
            self.count = 0

        def add(self, number: int, *, twice: bool = False) -> bool:
            if self.count + number > self.most and not twice:
                return False
            self.note(number, twice=twice)
            self.count += number
            return True

        def note(self, number: int, *, twice: bool = True) -> None:
            self.last = (number, twice)

        def __repr__(self) -> str:
            return f"{self.count + 1}"


    def even(numbers: list[int]) -> list[int]:
        def half(number: int) -> int:
            return number // 2

        return [half(number) for number in numbers if number % 2 == 0]
"""


@pytest.fixture
def module(tmp_path: Path) -> Module:
    path = tmp_path / "counting.py"
    path.write_text(dedent(TEXT), encoding="utf-8")
    return Module("counting", path)


def named(module: Module, text: str) -> Mutant:
    return next(one for one in module.mutants if str(one.key) == f"counting: {text}")


def applied(module: Module, text: str) -> Applied:
    made = module.apply(named(module, text))
    assert made is not None
    return made


def test_a_mutant_is_named_by_its_function_and_its_statement(module: Module) -> None:
    names = [str(one.key) for one in module.mutants]
    assert len(names) == len(set(names))
    assert "counting: Counter.add: self.note(number, twice=twice) -> pass" in names
    assert "counting: Counter.add: self.note(number, twice=twice) -> self.note(number, )" in names
    assert "counting: Counter.add: if self.count + number > self.most and not twice: -> if True:" in names
    assert any("self.count + number >= self.most" in name for name in names)
    assert any("if number % 2 != 0" in name for name in names)


def test_what_makes_texts_for_people_is_left_alone(module: Module) -> None:
    assert not [one for one in module.mutants if "__repr__" in one.key.function]


def test_names_do_not_change_when_lines_move(module: Module) -> None:
    before = [one.key for one in module.mutants]
    module.path.write_text(f"# one more line\n\n{module.text}", encoding="utf-8")
    assert [one.key for one in Module("counting", module.path).mutants] == before


def test_a_mutant_stands_at_its_statement_and_knows_its_function(module: Module) -> None:
    lines = module.text.splitlines()
    mutant = named(module, "Counter.add: self.count += number -> pass")
    assert lines[mutant.first - 1].strip() == "self.count += number"
    assert lines[mutant.body[0] - 1].strip().startswith("def add")
    assert lines[mutant.body[1] - 1].strip() == "return True"


def test_the_head_of_a_branch_does_not_hold_its_body(module: Module) -> None:
    mutant = named(module, "Counter.add: if self.count + number > self.most and not twice: -> if False:")
    assert mutant.first == mutant.last


def test_the_code_of_a_function_is_replaced_while_its_objects_stay(module: Module) -> None:
    space: dict[str, Any] = {"__name__": "counting"}
    exec(compile(module.text, str(module.path), "exec"), space)  # noqa: S102 - this test's own module
    counter = space["Counter"](most=3)
    functions = Functions([module.path])
    made = applied(module, "Counter.add: if self.count + number > self.most and not twice: -> if False:")
    assert counter.add(4) is False
    assert functions.swap(module.path, made)
    assert counter.add(4) is True


def test_functions_inside_a_function_are_replaced_with_it(module: Module) -> None:
    space: dict[str, Any] = {"__name__": "counting"}
    exec(compile(module.text, str(module.path), "exec"), space)  # noqa: S102 - this test's own module
    even = space["even"]
    assert even([2, 3, 4]) == [1, 2]
    functions = Functions([module.path])
    assert functions.swap(module.path, applied(module, "even.half: return number // 2 -> return number / 2"))
    assert even([3, 6]) == [3.0]


def test_a_change_that_is_the_same_program_is_no_mutant(tmp_path: Path) -> None:
    path = tmp_path / "same.py"
    path.write_text(
        "def one() -> int:\n    while True:\n        break\n    return 1 if True else 2\n", encoding="utf-8"
    )
    module = Module("same", path)
    forced = [one for one in module.mutants if one.key.becomes == "return 1 if (True) or True else 2"]
    assert len(forced) == 1
    assert module.apply(forced[0]) is None
