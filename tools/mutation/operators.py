"""The changes that make a mutant of a function: mutmut's operators, and two that mutmut has not.

Of mutmut's operators these are left out, because mypy refuses what they make, or no rule reads it: strings (names and
texts), arguments and assignments set to None, lambdas without a result.  Of its dropped arguments only named ones stay,
because a call without a positional one always raises.  Ours drop a statement and force a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst
import libcst.matchers as m
from mutmut.mutation import mutators

Operator = Callable[[Any], Iterable[cst.CSTNode]]


def named_argument_dropped(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Drop each named argument: the call takes the default instead."""
    kept = [arg for arg in node.args if arg.keyword is not None]
    for changed in mutators.operator_arg_removal(node):
        if len(changed.args) == len(node.args) - 1:
            gone = [arg for arg in kept if not any(arg is other for other in changed.args)]
            if gone:
                yield changed


def statement_dropped(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Drop a call for its effect, a change of an attribute or element, a refusal, or an early return."""
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
    """Take the branch of an `if` always, or never."""
    for value in ("True", "False"):
        if not m.matches(node.test, m.Name(value)):
            yield node.with_changes(test=cst.Name(value))


def loop_never_entered(node: cst.For) -> Iterator[cst.CSTNode]:
    """Let a loop see no element."""
    if not m.matches(node.iter, m.Tuple(elements=[])):
        yield node.with_changes(iter=cst.Tuple([]))


def filter_dropped(node: cst.CompFor) -> Iterator[cst.CSTNode]:
    """Let a comprehension keep every element."""
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
"""Name, the kind of node, and the function that yields what may stand in its place."""


def changes(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """What may stand in the place of a node, each with the operator's name."""
    for name, kind, operator in OPERATORS:
        if isinstance(node, kind):
            for changed in operator(node):
                yield name, changed
