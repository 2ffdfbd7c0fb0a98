"""The errors of the pipeline; the text of each is one sentence with the problem and, if there is one, the remedy.

``PipelineError``
    ├── ``SparkMissingError``    pyspark is not installed
    ├── ``PackageMissingError``  a package that Spark needs is not installed
    ├── ``UnreachableMasterError``  nothing listens at the address of the cluster
    ├── ``JavaMissingError``     no Java that Spark can run on
    ├── ``PlaceError``           a URI names no place that can be used
    ├── ``NoJournalError``       a folder holds no journal
    ├── ``JournalGoneError``     a journal vanished during the judgement
    ├── ``NoInvariantError``     a chosen rule has no invariant
    ├── ``OutputError``          the results cannot be written
    └── ``SparkFailedError``     Spark failed
"""

from __future__ import annotations

from pathlib import Path

_CAUSE = "Caused by: "


class PipelineError(Exception):
    """Base of the pipeline's errors; its text is one sentence for the user."""


class SparkMissingError(PipelineError):
    """pyspark is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "Judging on Spark needs the package pyspark, which is not installed here: pip install 'assay-mq[spark]'."
        )


class PackageMissingError(PipelineError):
    """A package that Spark needs is not installed.

    Args:
        use: The first words of the error's text, which name the user of the package: ``A Spark Connect server needs``.
        package: The name of the package.
        extra: The extra of this distribution that includes the package.
    """

    def __init__(self, use: str, package: str, extra: str) -> None:
        super().__init__(f"{use} the package {package}, which is not installed here: pip install 'assay-mq[{extra}]'.")
        self.package = package


class UnreachableMasterError(PipelineError):
    """Nothing listens at the address of the cluster or server.

    Args:
        master: The address.
    """

    def __init__(self, master: str) -> None:
        super().__init__(
            f"No Spark answers at {master}: start its master or Spark Connect server, or correct --master."
        )
        self.master = master


class JavaMissingError(PipelineError):
    """No Java was found, or the Java is too old.

    Args:
        found: What the search found, as a clause.
    """

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Judging on Spark needs Java 17 or newer, but {found}: install it"
            " (Debian: openjdk-17-jre-headless) or set JAVA_HOME."
        )
        self.found = found


class PlaceError(PipelineError):
    """A URI names no place that can be used.

    Args:
        place: The URI, without the parts that may be secret.
        why: The problem of the URI, as a clause.
    """

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"The folder {place} cannot be used: {why}; name a path, or correct the URI.")
        self.place = place


class NoJournalError(PipelineError):
    """A folder holds no journals.

    Args:
        folder: The folder.
        why: The problem of the folder, as a clause.
    """

    def __init__(self, folder: Path | str, why: str) -> None:
        super().__init__(
            f"No journal to judge in {folder}: {why}; name the output folder of a run, or a folder of .jsonl files."
        )
        self.folder = folder


class JournalGoneError(PipelineError):
    """A journal vanished during the judgement.

    Args:
        path: The path of the journal.
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__(
            f"The journal {path} vanished while it was judged: if its run goes on, judge the run after its end."
        )
        self.path = path


class NoInvariantError(PipelineError):
    """A chosen rule has no invariant.

    Args:
        rule: The rule's id.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(
            f"{rule} has no invariant, so no history can be judged by it: `assay rules {rule}` tells why; leave it out."
        )
        self.rule = rule


class OutputError(PipelineError):
    """The results cannot be written.

    Args:
        out: The folder for the results.
        why: The problem of the folder, as a clause.
    """

    def __init__(self, out: Path | str, why: str) -> None:
        super().__init__(f"The results cannot be written to {out}: {why}; name another folder with --out.")
        self.out = out


class SparkFailedError(PipelineError):
    """Spark failed.

    Args:
        why: The cause of the failure. `reason` makes it from the text of one of Spark's own errors.
    """

    def __init__(self, why: str) -> None:
        super().__init__(f"Spark could not finish the judgement: {why}")
        self.why = why


def reason(text: str) -> str:
    """Return the reason in the text of a Spark error: its first line, and its last cause if the text names causes.

    Args:
        text: The text, often with the stack trace of Spark's virtual machine.
    """
    first, *others = (text.strip() or "it gave no reason").splitlines()
    causes = [line.strip().removeprefix(_CAUSE) for line in others if line.strip().startswith(_CAUSE)]
    deepest = causes[-1] if causes and causes[-1] not in first else ""
    return f"{first.strip().rstrip(':')}: {deepest}" if deepest else first.strip()
