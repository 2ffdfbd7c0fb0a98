"""The clients that ran a run's scenarios, by face: one face cannot run every scenario, and others stand in for it.

A client is named by its title in the journal: name, version and face, such as ``Assay SDK 0.1.0 (mqlight)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict


def clients_of(asked: str, scenarios: Iterable[ScenarioVerdict]) -> dict[str, int]:
    """Count the scenarios that each client ran.

    Args:
        asked: The client that the run asked for. It comes first, also if it ran none.
        scenarios: The scenarios; those whose client the journal does not name are not counted.

    Returns:
        The clients by title; empty if no scenario names its client.
    """
    found = Counter(scenario.client for scenario in scenarios if scenario.client)
    if not found:
        return {}
    first = {asked: found.pop(asked, 0)} if asked else {}
    return first | dict(sorted(found.items()))


def client_title(asked: str, scenarios: Iterable[ScenarioVerdict]) -> str:
    """Name the clients that ran these scenarios: ``Assay SDK 0.1.0 (mqlight, simplified)``.

    Args:
        asked: The client that the run asked for; the answer if no scenario names its client.
        scenarios: The scenarios.
    """
    faces: dict[str, list[str]] = {}
    for title in (title for title, count in clients_of(asked, scenarios).items() if count):
        name, face = _name_and_face(title)
        faces.setdefault(name, []).append(face)
    titles = (f"{name} ({', '.join(found)})" if any(found) else name for name, found in faces.items())
    return ", ".join(titles) or asked


def faces_sentence(clients: Mapping[str, int]) -> str:
    """Say which face ran how many scenarios, the face that the run asked for first.

    Args:
        clients: Scenarios by client, as `clients_of` counts them.

    Returns:
        ``face mqlight (2 scenarios), simplified (1 scenario that mqlight cannot run)``; empty if only one ran.
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
