"""The clients that ran the scenarios of a run: if one face cannot run a scenario, another face runs it.

A client's title in the journal has name, version and face, such as ``Assay SDK 0.1.0 (mqlight)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict


def clients_of(asked: str, scenarios: Iterable[ScenarioVerdict]) -> dict[str, int]:
    """Count the scenarios that each client ran.

    Args:
        asked: The title of the client that the user asked for. It comes first, even if it ran no scenario.
        scenarios: The scenarios. A scenario without the name of its client is not counted.

    Returns:
        The number of scenarios by the client's title; empty if no scenario names its client.
    """
    found = Counter(scenario.client for scenario in scenarios if scenario.client)
    if not found:
        return {}
    first = {asked: found.pop(asked, 0)} if asked else {}
    return first | dict(sorted(found.items()))


def client_title(asked: str, scenarios: Iterable[ScenarioVerdict]) -> str:
    """Return a title for all clients that ran these scenarios, such as ``Assay SDK 0.1.0 (mqlight, simplified)``.

    Args:
        asked: The title of the client that the user asked for, which is returned if no scenario names its client.
        scenarios: The scenarios.
    """
    faces: dict[str, list[str]] = {}
    for title in (title for title, count in clients_of(asked, scenarios).items() if count):
        name, face = _name_and_face(title)
        faces.setdefault(name, []).append(face)
    titles = (f"{name} ({', '.join(found)})" if any(found) else name for name, found in faces.items())
    return ", ".join(titles) or asked


def faces_sentence(clients: Mapping[str, int]) -> str:
    """Return a sentence with the number of scenarios that each face ran.

    Args:
        clients: The number of scenarios by client, from `clients_of`; the first is the client that the user asked for.

    Returns:
        ``face mqlight (2 scenarios), simplified (1 scenario that mqlight cannot run)``; empty if only one client ran
        scenarios.
    """
    if len(clients) < 2:  # noqa: PLR2004 - one face needs no sentence
        return ""
    (asked, own), *others = ((_name_and_face(title)[1] or title, count) for title, count in clients.items())
    parts = [f"face {asked} ({counted(own, 'scenario')})"]
    parts += [f"{face} ({counted(count, 'scenario')} that {asked} cannot run)" for face, count in others]
    return ", ".join(parts)


def _name_and_face(title: str) -> tuple[str, str]:
    name, _, face = title.removesuffix(")").rpartition(" (")
    return (name, face) if name and title.endswith(")") else (title, "")
