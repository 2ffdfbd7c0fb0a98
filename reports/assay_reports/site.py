"""The HTML report: a folder of static pages that a browser shows without a server, a network or scripts."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path, PurePosixPath

import msgspec

from assay_evidence.verdicts import Verdict
from assay_reports.errors import OutputError
from assay_reports.presentation import (
    FACES,
    LEVELS,
    NOT_RUN,
    NOTHING_TO_OBSERVE,
    READING_ORDER,
    ROLES,
    STRENGTHS,
)
from assay_reports.sources import RunEvidence
from assay_reports.templating import template_environment
from assay_reports.views.backends import backend_page
from assay_reports.views.comparison import ABSENT, FORM, PAGE, Absence, compared, form_of
from assay_reports.views.matrix import matrix
from assay_reports.views.own import headline, own_of
from assay_reports.views.pairs import pairs_of
from assay_reports.views.rules import rule_page

MANIFEST = "site.json"
"""The file that lists the site's files, so that a later report knows which files it may replace."""
_ASSETS = ("style.css", "report.js")
_STATES = {face.key: face for face in (*FACES.values(), NOT_RUN, NOTHING_TO_OBSERVE)}
"""The presentation of each state of a cell of the matrix."""


class Manifest(msgspec.Struct, frozen=True):
    """The content of `site.json`."""

    files: tuple[str, ...]


def render_site(runs: Sequence[RunEvidence], out: Path, absent: Iterable[Absence] = ()) -> Path:
    """Write the report of one or several runs; for several pairs or absent backends, also the matrix of the pairs.

    Args:
        runs: The runs, one for each pair of client and broker, in the order of the matrix's columns.
        out: The site's folder, which is created if it is missing. An earlier report in it is replaced.
        absent: The backends that were asked for and have no run.

    Returns:
        The path of the start page.

    Raises:
        SourceError: A run's verdicts name a rule that the catalogue does not have.
        OutputError: No run was given, the folder cannot be written, or it holds files that do not belong to a report.
    """
    if not runs:
        raise OutputError(out, "no run to report on was given; name an output folder of `assay run`.")
    pages = dict(_pages(runs, out, tuple(absent)))
    try:
        _clear(out)
        for name, content in pages.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (out / MANIFEST).write_bytes(msgspec.json.encode(Manifest(tuple(sorted(pages)))))
    except OSError as error:
        raise OutputError(out, f"the report cannot be written ({error.strerror}); name another folder.") from error
    return out / "index.html"


def _pages(runs: Sequence[RunEvidence], out: Path, absent: Sequence[Absence]) -> Iterator[tuple[str, bytes]]:
    catalogue = runs[0].catalogue
    pairs = pairs_of(runs, catalogue)
    environment = template_environment()
    several = len(pairs) + len(absent) > 1
    faces = [FACES[Verdict.PASS], *(FACES[verdict] for verdict in READING_ORDER if verdict is not Verdict.PASS)]

    def page(template: str, root: str, **values: object) -> bytes:
        text = environment.get_template(template).render(
            root=root,
            pairs=pairs,
            catalogue=catalogue,
            faces=faces,
            strengths=STRENGTHS,
            roles=ROLES,
            levels=LEVELS,
            several=several,
            **values,
        )
        return text.encode()

    rules, own = matrix(pairs, catalogue), own_of(pairs)
    lead = headline(own, pairs, rules)
    yield "index.html", page("index.html", "", matrix=rules, own=own, headline=lead)
    if several:
        told = compared(pairs, catalogue, absent)
        yield PAGE, page("matrix.html", "", page=told, states=_STATES, absent=ABSENT)
        yield FORM, form_of(told)
    for feature in own.features:
        yield feature.href, page("feature.html", "../", page=feature)
    for rule in catalogue.rules:
        yield f"rules/{rule.id}.html", page("rule.html", "../", page=rule_page(rule, pairs, catalogue))
    for pair in pairs:
        yield pair.href, page("backend.html", "../", page=backend_page(pair, own, out))
    for name in _ASSETS:
        yield name, resources.files("assay_reports").joinpath("assets", name).read_bytes()


def _clear(out: Path) -> None:
    """Remove the files of an earlier report from a folder.

    Raises:
        OutputError: The folder holds files that are not a report's, or its manifest is malformed.
    """
    manifest = out / MANIFEST
    if not manifest.is_file():
        if out.is_dir() and any(out.iterdir()):
            raise OutputError(out, "the folder holds files that are not a report's; empty it or name another one.")
        out.mkdir(parents=True, exist_ok=True)
        return
    try:
        files = msgspec.json.decode(manifest.read_bytes(), type=Manifest).files
    except msgspec.MsgspecError as error:
        raise OutputError(manifest, f"it is malformed ({error}); delete the report's folder.") from error
    for name in files:
        parts = PurePosixPath(name)
        if not parts.is_absolute() and ".." not in parts.parts:
            (out / parts).unlink(missing_ok=True)
