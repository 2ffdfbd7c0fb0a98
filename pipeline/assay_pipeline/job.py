"""The whole judgement: from journals to verdicts and tables.

An interrupted judgement leaves no incomplete results (`assay_pipeline.places.results`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from assay_evidence.histories.measures import Measures
from assay_evidence.histories.offences import Offence
from assay_evidence.oracle import examine
from assay_evidence.reader import read_journals
from assay_evidence.subjects import LIMITS, Limits, Subject
from assay_evidence.verdicts import Verdict, Verdicts, verdicts_json
from assay_features import load_catalogue
from assay_pipeline.errors import JournalGoneError, PipelineError, SparkFailedError, reason
from assay_pipeline.journals import JournalFile, find_journals
from assay_pipeline.places.copies import local_copies
from assay_pipeline.places.naming import place_at, place_of
from assay_pipeline.places.remote import Place
from assay_pipeline.places.results import results_folder, write_file
from assay_pipeline.session import LOCAL, address_of, spark_session
from assay_pipeline.verdicts import conclude

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from assay_pipeline.collection import Collected

SCHEMA = 1
VERDICTS = "verdicts.json"
MANIFEST = "manifest.json"
MEASURES = "measures.json"
MEASURES_PAGE = "measures.html"
OFFENCES_PAGE = "offences.html"


class Pages(Struct, frozen=True):
    """The functions that make the HTML pages.

    Args:
        measures: Makes the page of the measures of runs.
        offences: Makes the page with the events of each subject that broke a rule.
    """

    measures: Callable[[tuple[Measures, ...]], str]
    offences: Callable[[tuple[Offence, ...]], str]


class Options(Struct, frozen=True):
    """The options of a judgement: its rules and limits, and what it writes besides the verdicts.

    Args:
        rules: The ids of the rules to judge; empty for all that have an invariant.
        limits: The values of the limits.
        oracle: Whether to examine the journals also in plain Python, and report the differences.
        pages: Makes the pages; None for no pages.
    """

    rules: Collection[str] = ()
    limits: Limits = LIMITS
    oracle: bool = False
    pages: Pages | None = None


DEFAULT = Options()


class Judged(Struct, frozen=True):
    """A judged run.

    Args:
        folder: The folder of the run's journals.
        file: The file of the verdicts, relative to the output folder.
        verdicts: The run's verdicts.
        damage: The damage of the run's journals, one sentence each.
    """

    folder: str
    file: str
    verdicts: Verdicts
    damage: tuple[str, ...] = ()


class Disagreement(Struct, frozen=True):
    """A subject that only the pipeline or only the oracle has found.

    Args:
        by: The finder of the subject: ``spark`` or ``oracle``.
        subject: The examined subject, with its outcome.
    """

    by: str
    subject: Subject


class Result(Struct, frozen=True):
    """The result of a judgement.

    Args:
        out: The folder of the results.
        runs: The judged runs.
        disagreements: The differences from the oracle; None if the oracle did not run.
        measures: The measures of the runs; empty if only chosen rules were judged.
        offences: The first offending subjects of each rule and run, with their events.
    """

    out: Place
    runs: tuple[Judged, ...]
    disagreements: tuple[Disagreement, ...] | None = None
    measures: tuple[Measures, ...] = ()
    offences: tuple[Offence, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code of `assay judge`.

        The first condition that holds decides:

        - 2 if the oracle disagrees,
        - 1 if a rule failed,
        - 2 if a rule is inconclusive or in error, or if a run has no rule with the verdict pass or partial,
        - 0 otherwise.
        """
        runs = [{rule.verdict for rule in run.verdicts.rules} for run in self.runs]
        if self.disagreements:
            return 2
        if any(Verdict.FAIL in verdicts for verdicts in runs):
            return 1
        kept, undecided = {Verdict.PASS, Verdict.PARTIAL}, {Verdict.INCONCLUSIVE, Verdict.ERROR}
        return 0 if runs and all(verdicts & kept and not verdicts & undecided for verdicts in runs) else 2


class Manifest(Struct, frozen=True):
    """The sources and results of a judgement (``manifest.json``).

    Args:
        schema: The version of this format.
        master: Spark's master URL, without parameters.
        spark: Spark's version.
        limits: The values of the limits that the judged rules use, by name.
        journals: Every journal, with its size.
        lines: The numbers of parsed, quarantined and missing lines.
        verdicts: The files of verdicts, by folder and run.
        tables: The Parquet tables, with their numbers of rows.
        disagreements: The differences from the oracle; None if the oracle did not run.
    """

    schema: int
    master: str
    spark: str
    limits: Mapping[str, int]
    journals: tuple[JournalFile, ...]
    lines: Mapping[str, int]
    verdicts: tuple[Mapping[str, str], ...]
    tables: Mapping[str, int]
    disagreements: tuple[Disagreement, ...] | None = None


def judge_runs(
    folders: Iterable[Path | str],
    out: Path | str,
    master: str = LOCAL,
    *,
    conf: Mapping[str, str] | None = None,
    options: Options = DEFAULT,
) -> Result:
    """Judge the journals of any number of runs.

    Args:
        folders: Output folders of runs, or folders of journals: paths, or URIs.
        out: The folder for the results: a path, or a URI. It must be new or empty, or hold an earlier judgement; this
            judgement replaces it.
        master: ``local[*]``, the address of a cluster, or ``sc://HOST:PORT`` for a Spark Connect server.
        conf: Settings of Spark, which override the pipeline's own settings.
        options: The options of the judgement.

    Raises:
        UnknownRuleError: The catalogue lacks one of the ids.
        PipelineError: No journal, Spark, needed package or Java was found, nothing listens at the address of the
            cluster or server, a rule has no invariant, a journal vanished, Spark failed, a URI cannot be used, or the
            results cannot be written.
    """
    load_catalogue().select(ids=options.rules)
    final = place_of(out)
    files = find_journals([place_of(folder) for folder in folders])
    octets = sum(file.plain_octets for file in files)
    with results_folder(final, MANIFEST) as begin, spark_session(master, octets=octets, conf=conf or {}) as spark:
        return judge_with(spark, files, begin(), final, master=master, options=options)


def judge_with(
    spark: SparkSession,
    files: tuple[JournalFile, ...],
    place: Place,
    out: Place,
    *,
    master: str = LOCAL,
    options: Options = DEFAULT,
) -> Result:
    """Judge journals with a given session.

    Args:
        spark: The Spark session.
        files: The journals to judge.
        place: An empty folder for the results; the manifest is written last.
        out: The final place of that folder.
        master: Spark's master URL, for the manifest.
        options: The options of the judgement.

    Raises:
        UnknownRuleError: The catalogue lacks one of the ids.
        NoInvariantError: One of the rules has no invariant.
        JournalGoneError: A journal vanished during the judgement.
        SparkFailedError: Spark failed.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from assay_pipeline.collection import collect

    try:
        collected = collect(spark, files, place, options.limits, subjects=options.oracle, rules=options.rules)
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise _failure(error, files) from error
    result = Result(
        out,
        tuple(_judged(collected, options.limits)),
        tuple(_disagreements(collected, files, options.limits)) if options.oracle else None,
        collected.measures,
        collected.offences,
    )
    used = {limit for invariant in collected.invariants for limit in invariant.limits}
    manifest = Manifest(
        schema=SCHEMA,
        master=address_of(master),
        spark=spark.version,
        limits={limit.name: options.limits[limit] for limit in sorted(used, key=lambda limit: limit.name)},
        journals=files,
        lines=collected.lines,
        verdicts=tuple(_entry(run) for run in result.runs),
        tables=collected.tables,
        disagreements=result.disagreements,
    )
    _write(place, result, manifest, options.pages)
    return result


def _write(place: Place, result: Result, manifest: Manifest, pages: Pages | None) -> None:
    """Write the verdicts, the measures and the pages into a folder, and the manifest as the last file."""
    for run in result.runs:
        write_file(place / run.file, verdicts_json(run.verdicts))
    if result.measures:
        write_file(place / MEASURES, _json(result.measures))
    if pages is not None and result.measures:
        write_file(place / MEASURES_PAGE, pages.measures(result.measures).encode())
    if pages is not None and result.offences:
        write_file(place / OFFENCES_PAGE, pages.offences(result.offences).encode())
    write_file(place / MANIFEST, _json(manifest))


def _entry(run: Judged) -> dict[str, str]:
    """Return the manifest's entry for the verdicts of a run."""
    return {"folder": run.folder, "run": run.verdicts.run, "backend": run.verdicts.backend, "file": run.file}


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _failure(error: Exception, files: Iterable[JournalFile]) -> PipelineError:
    """Return the error that the user sees for one of Spark's errors."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    gone = next((file.path for file in files if _is_gone(file)), None)
    if gone is not None:
        return JournalGoneError(gone)
    if isinstance(error, PySparkException):
        return SparkFailedError(reason(str(error)))
    if isinstance(error, Py4JJavaError):
        return SparkFailedError(reason(f"{error.java_exception}\n{error}"))
    return SparkFailedError("its virtual machine has died, perhaps for lack of memory")


def _is_gone(file: JournalFile) -> bool:
    """Return whether a journal has vanished; False if the file system does not answer."""
    with suppress(OSError):
        return not place_at(file.path).exists()
    return False


def _judged(collected: Collected, limits: Limits) -> Iterator[Judged]:
    catalogue = load_catalogue()
    single = len(collected.runs) == 1
    names: set[str] = set()
    for run in collected.runs:
        verdicts = conclude(
            run,
            collected.invariants,
            collected.tallies.get(run, ()),
            collected.remarks.get(run, ()),
            collected.damage.get(run.folder, ()),
            catalogue=catalogue,
            limits=limits,
        )
        file = VERDICTS if single else f"runs/{_unused(f'{run.run}-{run.backend}', names)}/{VERDICTS}"
        yield Judged(run.folder, file, verdicts, collected.damage.get(run.folder, ()))


def _unused(name: str, taken: set[str]) -> str:
    """Return a name that is not yet taken: the given name, or the given name with a number."""
    plain = re.sub(r"[^A-Za-z0-9._+-]", "_", name).lstrip(".") or "run"
    number, chosen = 1, plain
    while chosen in taken:
        number += 1
        chosen = f"{plain}-{number}"
    taken.add(chosen)
    return chosen


def _disagreements(collected: Collected, files: tuple[JournalFile, ...], limits: Limits) -> Iterator[Disagreement]:
    """Compare the subjects with the oracle's, folder by folder.

    Damaged folders are left out, because pipeline and oracle read damaged lines differently.
    """
    forms = {invariant.rule: invariant.in_python for invariant in collected.invariants}
    for folder in sorted({file.folder for file in files} - collected.damage.keys()):
        with local_copies(place_at(file.path) for file in files if file.folder == folder) as paths:
            journals = read_journals(paths)
        told = set(examine(journals.events, forms, limits))
        found = set(collected.subjects.get(folder, ()))
        yield from (Disagreement("spark", subject) for subject in sorted(found - told))
        yield from (Disagreement("oracle", subject) for subject in sorted(told - found))
