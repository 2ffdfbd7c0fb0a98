"""``assay steps``: shows the step vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer
from rich.text import Text

from assay.exits import UsageProblem
from assay.terminal import Terminal
from assay_steps.words.handbook import Handbook, Saying, StepEntry, handbook, plain

_WITH = "after `with`, joined by commas and `and`"


def steps(
    words: Annotated[list[str] | None, typer.Argument(help="Only steps whose text contains all these words.")] = None,
) -> None:
    """List the steps that features can use, by topic, with their options and examples."""
    wanted = tuple(words or ())
    found = handbook().about(wanted)
    if not (found.topics or found.options or found.terms or found.words):
        raise UsageProblem(
            f"No step's text contains {' and '.join(wanted)}: try fewer words, or none to list every step."
        )
    terminal = Terminal(soft_wrap=True)
    for line in lines(found if wanted else handbook()):
        terminal.print(line)


def lines(found: Handbook) -> Iterator[Text]:
    """Make the lines to print: topics with their steps, then the options, terms and kinds of fields.

    Args:
        found: The part of the handbook to print.
    """
    for topic in found.topics:
        yield Text(topic.title, style="bold")
        for step in topic.steps:
            yield from _step(step)
        yield Text()
    yield from _sayings(f"Options of a send, {_WITH}", found.options)
    yield from _sayings(f"Terms of a subscriber, {_WITH}", found.terms)
    if found.words:
        yield Text("Kinds of fields in a step, such as Name in {label:Name}", style="bold")
        for word in found.words:
            yield from _indented(2, (f"{word.name}: {plain(word.meaning)}, such as {', '.join(word.examples)}",))


def _step(step: StepEntry) -> Iterator[Text]:
    yield from _indented(2, step.phrases)
    yield from _indented(6, (step.plainly, f"e.g. {step.example}"), style="dim")


def _sayings(title: str, sayings: Sequence[Saying]) -> Iterator[Text]:
    if not sayings:
        return
    yield Text(title, style="bold")
    for saying in sayings:
        yield from _indented(2, saying.examples)
        yield from _indented(6, (plain(saying.what),), style="dim")
    yield Text()


def _indented(columns: int, texts: Iterable[str], style: str = "") -> Iterator[Text]:
    for text in texts:
        yield Text(f"{' ' * columns}{text}", style=style)
