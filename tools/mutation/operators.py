"""The operators that make mutants: most operators of mutmut, and some of our own.

Some of mutmut's operators are left out, because mypy refuses their mutants or no rule depends on them: changed strings,
arguments and assignments set to None, and lambdas without a result.  Only named arguments are dropped, because a call
that lacks a positional argument nearly always raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst
import libcst.matchers as m
from mutmut.mutation import mutators

Operator = Callable[[Any], Iterable[cst.CSTNode]]


def named_argument_dropped(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Yield a mutant of the call for each named argument: the call without this argument, so its default applies."""
    kept = [arg for arg in node.args if arg.keyword is not None]
    for changed in mutators.operator_arg_removal(node):
        if len(changed.args) == len(node.args) - 1:
            gone = [arg for arg in kept if not any(arg is other for other in changed.args)]
            if gone:
                yield changed


def statement_dropped(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield `pass` in place of a statement of these kinds.

    - a call, await or yield whose result is not used
    - an assignment to an attribute or element, or an augmented assignment
    - a raise, a del, or a return without a value
    """
    effect = m.Expr(m.Call() | m.Await() | m.Yield())
    place = m.Attribute() | m.Subscript()
    change = (
        m.Assign(targets=[m.AssignTarget(place)])
        | m.AugAssign()
        | m.AnnAssign(target=place, value=~m.MatchIfTrue(lambda value: value is None))
    )
    leave = m.Return(value=None) | m.Return(m.Name("None")) | m.Raise(exc=m.DoNotCare()) | m.Del()
    if m.matches(node, effect | change | leave):
        yield cst.Pass()


def branch_forced(node: cst.If) -> Iterator[cst.CSTNode]:
    """Yield the `if` with a condition that is always true, and with one that is always false."""
    for value in ("True", "False"):
        if not m.matches(node.test, m.Name(value)):
            yield node.with_changes(test=cst.Name(value))


def loop_never_entered(node: cst.For) -> Iterator[cst.CSTNode]:
    """Yield the loop with an empty tuple in place of the elements."""
    if not m.matches(node.iter, m.Tuple(elements=[])):
        yield node.with_changes(iter=cst.Tuple([]))


def filter_dropped(node: cst.CompFor) -> Iterator[cst.CSTNode]:
    """Yield a mutant of the comprehension for each of its ``if`` clauses: the comprehension without this clause."""
    for nth in range(len(node.ifs)):
        yield node.with_changes(ifs=[*node.ifs[:nth], *node.ifs[nth + 1 :]])


OPERATORS: tuple[tuple[str, type[cst.CSTNode], Operator], ...] = (
    ("number", cst.BaseNumber, mutators.operator_number),
    ("true-false", cst.Name, mutators.operator_name),
    ("not", cst.UnaryOperation, mutators.operator_remove_unary_ops),
    ("keyword", cst.CSTNode, mutators.operator_keywords),
    ("operator", cst.CSTNode, mutators.operator_swap_op),
    ("augmented", cst.AugAssign, mutators.operator_augmented_assignment),
    ("case", cst.Match, mutators.operator_match),
    ("either-or", cst.IfExp, mutators.operator_if_exp),
    ("string-method", cst.Call, mutators.operator_symmetric_string_methods_swap),
    ("named-argument", cst.Call, named_argument_dropped),
    ("statement", cst.BaseSmallStatement, statement_dropped),
    ("branch", cst.If, branch_forced),
    ("loop", cst.For, loop_never_entered),
    ("filter", cst.CompFor, filter_dropped),
)
"""For each operator: its name, the type of node that it changes, and the function that yields the changed nodes."""


def changes(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """Yield a pair for each change of a node that an operator makes: the operator's name, and the changed node."""
    for name, kind, operator in OPERATORS:
        if isinstance(node, kind):
            for changed in operator(node):
                yield name, changed
