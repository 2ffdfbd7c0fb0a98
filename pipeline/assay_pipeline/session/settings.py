"""Spark's settings for a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

LOOPBACK = "127.0.0.1"
SMALL_OCTETS = 64 * 1024 * 1024
"""For journals of fewer bytes, the virtual machine compiles quickly, because better code would cost more time."""
TINY_OCTETS = 8 * 1024 * 1024
"""Journals of fewer bytes are one partition, because each partition of each table costs milliseconds."""
OCTETS_A_PARTITION = 32 * 1024 * 1024
HEAP = "2g"
"""The heap of the virtual machine for journals of at least `SMALL_OCTETS`; Spark's own default is half of it."""


def session_settings(octets: int) -> Mapping[str, str]:
    """Return the settings that every session needs, wherever its Spark runs.

    Args:
        octets: The size of the journals' lines in bytes.
    """
    return {
        "spark.sql.adaptive.enabled": "false" if octets < SMALL_OCTETS else "true",
        "spark.sql.legacy.timeParserPolicy": "CORRECTED",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(_partitions(octets)),
        # The driver lists the files faster than a Spark job does.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    }


def machine_settings(octets: int, options: tuple[str, ...], scratch: Path) -> Mapping[str, str]:
    """Return the further settings for a virtual machine that Assay starts itself.

    Args:
        octets: The size of the journals' lines in bytes.
        options: Further options of the virtual machine.
        scratch: A folder for temporary files.
    """
    small = octets < SMALL_OCTETS
    jvm = (*(("-XX:TieredStopAtLevel=1",) if small else ()), *options)
    return {
        "spark.app.name": "assay judge",
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraJavaOptions": " ".join(jvm),
        "spark.driver.host": LOOPBACK,
        **({} if small else {"spark.driver.memory": HEAP}),
        "spark.local.dir": str(scratch / "spark"),
        # Otherwise Spark calls the Python process for the source line of each column operator.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # For a small journal, the compilation of a plan takes longer than its interpretation.
        "spark.sql.codegen.wholeStage": "false" if small else "true",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN" if small else "FALLBACK",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _partitions(octets: int) -> int:
    if octets < TINY_OCTETS:
        return 1
    return 2 if octets < SMALL_OCTETS else max(8, octets // OCTETS_A_PARTITION)
