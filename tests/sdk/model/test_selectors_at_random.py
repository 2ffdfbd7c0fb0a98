"""Tests of random selectors, compared with an independent evaluator, and of damaged texts."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.sdk.model.truths import truth_of

from assay_sdk.model.message import Message, Property
from assay_sdk.model.selectors import Limits, Selector, SelectorError

NAMES = ("a", "b", "c", "JMSPriority")
Tree = tuple[Any, ...]  # (operator, operands...): the operator decides the types of the operands


def trees() -> st.SearchStrategy[Tree]:
    names = st.sampled_from(NAMES).map(lambda name: ("name", name))
    numbers = st.one_of(
        names,
        st.integers(-(2**63), 2**63 - 1).map(lambda value: ("constant", value)),
        st.integers(-3, 3).map(lambda value: ("constant", value)),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda value: ("constant", value)),
    )
    sums = st.recursive(
        numbers,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from("+-*/"), inner, inner), st.tuples(st.just("negative"), inner)
        ),
        max_leaves=4,
    )
    strings = st.text(st.sampled_from("ab%_'x"), max_size=4)
    texts = strings.map(lambda value: ("constant", value))
    truths = st.booleans().map(lambda value: ("constant", value))
    tests = st.one_of(
        names,
        truths,
        st.tuples(st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]), sums, sums),
        st.tuples(st.sampled_from(["=", "<>"]), st.one_of(names, texts, truths), st.one_of(sums, texts, truths)),
        st.tuples(st.sampled_from(["between", "not between"]), sums, sums, sums),
        st.tuples(st.sampled_from(["in", "not in"]), names, st.lists(strings, min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["like", "not like"]), names, strings),
        st.tuples(st.sampled_from(["is null", "is not null"]), names),
    )
    return st.recursive(
        tests,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(["and", "or"]), inner, inner), st.tuples(st.just("not"), inner)
        ),
        max_leaves=6,
    )


VALUES: st.SearchStrategy[Property] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.sampled_from("abx%_'"), max_size=3),
)
MESSAGES = st.builds(
    Message,
    priority=st.integers(0, 9),
    properties=st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES),
)


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def spelled(tree: Tree) -> str:  # noqa: PLR0911 - a table: one line for each construct
    """Return the selector's text, with every operand in brackets."""
    word, *rest = tree
    match word:
        case "name":
            return str(rest[0])
        case "constant":
            value = rest[0]
            return quoted(value) if isinstance(value, str) else str(value).upper()
        case "negative":
            return f"(-({spelled(rest[0])}))"
        case "not":
            return f"(NOT {spelled(rest[0])})"
        case "between" | "not between":
            return f"({spelled(rest[0])} {word} {spelled(rest[1])} and {spelled(rest[2])})"
        case "in" | "not in":
            return f"({spelled(rest[0])} {word} ({','.join(quoted(one) for one in rest[1])}))"
        case "like" | "not like":
            return f"({spelled(rest[0])} {word} {quoted(rest[1])})"
        case "is null" | "is not null":
            return f"({spelled(rest[0])} {word})"
        case _:
            return f"({spelled(rest[0])} {word} {spelled(rest[1])})"


def kind(value: Any) -> str:
    return {bool: "truth", int: "number", float: "number", str: "string"}[type(value)]


def long(value: int) -> int:
    return int.from_bytes((value % 2**64).to_bytes(8, "big"), "big", signed=True)


def arithmetic(word: str, left: Any, right: Any) -> Any:
    if left is None or right is None or kind(left) != "number" or kind(right) != "number":
        return None
    if isinstance(left, int) and isinstance(right, int):
        if word == "/":
            return None if right == 0 else long((abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1))
        return long({"+": left + right, "-": left - right, "*": left * right}[word])
    one, other = float(left), float(right)
    if word == "/":
        if other == 0:
            sign = -1 if str(one).startswith("-") != str(other).startswith("-") else 1
            return float("nan") if one == 0 or one != one else sign * float("inf")  # noqa: PLR0124 - asks for NaN
        return one / other
    return {"+": one + other, "-": one - other, "*": one * other}[word]


def related(word: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if kind(left) != kind(right) or (kind(left) != "number" and word not in ("=", "<>")):
        return False
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    less, equal = (False, left == right) if kind(left) != "number" else (left < right, left == right)
    unordered = not equal and not less and kind(left) == "number" and not left > right
    answers: dict[str, bool] = {
        "=": equal,
        "<>": not equal,
        "<": less,
        "<=": less or equal,
        ">": not less and not equal and not unordered,
        ">=": not less and not unordered,
    }
    return answers[word]


def both(left: bool | None, right: bool | None) -> bool | None:
    return min((left, right), key=(False, None, True).index)


def opposite(said: bool | None) -> bool | None:
    return {True: False, False: True, None: None}[said]


def either(left: bool | None, right: bool | None) -> bool | None:
    return opposite(both(opposite(left), opposite(right)))


def alike(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(alike(pattern[1:], text[cut:]) for cut in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and alike(pattern[1:], text[1:])


def expected(  # noqa: C901, PLR0911 - a table: one line for each construct
    tree: Tree, message: Message
) -> Any:
    word, *rest = tree
    if word == "name":
        return message.priority if rest[0] == "JMSPriority" else message.properties.get(rest[0])
    if word == "constant":
        return rest[0]
    first = expected(rest[0], message)
    match word:
        case "negative":
            # 0 - x would lose the sign of zero.
            return arithmetic("-", 0, first) if isinstance(first, int) else arithmetic("*", -1.0, first)
        case "+" | "-" | "*" | "/":
            return arithmetic(word, first, expected(rest[1], message))
        case "not":
            return opposite(truth(rest[0], message))
        case "and" | "or":
            return {"and": both, "or": either}[word](truth(rest[0], message), truth(rest[1], message))
        case "between":
            low, high = (expected(one, message) for one in rest[1:])
            return both(related(">=", first, low), related("<=", first, high))
        case "not between":
            low, high = (expected(one, message) for one in rest[1:])
            return either(related("<", first, low), related(">", first, high))
        case "is null" | "is not null":
            return (first is None) == (word == "is null")
        case "in" | "not in" | "like" | "not like":
            if not isinstance(first, str):
                return None if first is None else False
            held = first in rest[1] if "in" in word else alike(rest[1], first)
            return held != word.startswith("not")
        case _:
            return related(word, first, expected(rest[1], message))


def truth(tree: Tree, message: Message) -> bool | None:
    value = expected(tree, message)
    return None if value is None else value is True


@given(trees(), MESSAGES)
def test_a_selector_says_what_the_independent_evaluator_says(tree: Tree, message: Message) -> None:
    selector = Selector.parse(spelled(tree))
    assert truth_of(selector.text, message) is truth(tree, message), str(selector)
    assert selector.matches(message) is (truth(tree, message) is True)


@given(trees(), MESSAGES)
def test_the_one_spelling_means_the_same(tree: Tree, message: Message) -> None:
    selector = Selector.parse(spelled(tree))
    again = Selector.parse(str(selector))
    assert str(again) == str(selector)
    assert truth_of(again.text, message) is truth_of(selector.text, message)


def parsed_or_refused(text: str) -> None:
    fault: SelectorError | None = None
    try:
        Selector.parse(text, Limits(length=400)).matches(Message(properties={"a": 1}))
    except SelectorError as error:
        fault = error
    assert fault is None or 0 <= fault.position <= len(text)


@given(st.text())
def test_no_text_raises_anything_but_a_selector_error(text: str) -> None:
    parsed_or_refused(text)


TOKENS = ["a", "JMSType", "1", "0x", ".5", "1e5", "'x'", "'", "(", ")", ",", "=", "<>", "<", "+", "-", "*", "/", "NOT"]
TOKENS += ["AND", "OR", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "\u00a0", "\x00", "_", "p1", "."]


@given(st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join))
def test_no_row_of_words_raises_anything_but_a_selector_error(text: str) -> None:
    parsed_or_refused(text)


@given(trees(), st.data())
def test_no_damaged_selector_raises_anything_but_a_selector_error(tree: Tree, data: st.DataObject) -> None:
    text = spelled(tree)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 4)))
    parsed_or_refused(text[:begin] + data.draw(st.text(max_size=3)) + text[end:])
