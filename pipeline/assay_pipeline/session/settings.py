"""Spark's settings for a judgement."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

LOOPBACK = "127.0.0.1"
LARGE_OCTETS = 256 * 1024 * 1024
"""Spark compiles its plans for journals of at least this many bytes; for smaller ones, interpreted plans are faster.

With the journals of the build's main job (124 MiB), the judgement took 0.72 times as long with interpreted plans.
"""
SMALL_OCTETS = 64 * 1024 * 1024
"""For journals of fewer bytes, the virtual machine gets `SMALL_OPTIONS`."""
SMALL_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m", "-XX:+UseSerialGC")
"""With these options, the virtual machine uses only its fast compiler, because optimizing takes longer.

It has room for all compiled code, and a garbage collector without threads of its own.  For 600 small journals (20 MB),
the collector and the room together saved a quarter of the processor time.
"""
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
TINY_OCTETS = 8 * 1024 * 1024
"""Journals of fewer bytes are one partition, because each partition of each table costs milliseconds."""
OCTETS_A_PARTITION = 32 * 1024 * 1024
HEAP = "2g"
"""The heap of the Java virtual machine for journals of at least `SMALL_OCTETS`; Spark's own default is half of this."""


def session_settings(octets: int) -> Mapping[str, str]:
    """Return the settings that every session needs, wherever its Spark runs.

    Args:
        octets: The size of the journals' lines in bytes.
    """
    large = octets >= LARGE_OCTETS
    return {
        "spark.sql.adaptive.enabled": "true" if large else "false",
        # Spark estimates a table's memory by its compressed size.  Lists of faults need much more memory, so a table
        # that Spark broadcasts automatically may not fit.  Explicit broadcasts stay.
        **({"spark.sql.autoBroadcastJoinThreshold": "-1"} if large else {}),
        "spark.sql.legacy.timeParserPolicy": "CORRECTED",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(_partitions(octets)),
        # The driver lists the files faster than a Spark job does.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    }


def machine_settings(octets: int, options: tuple[str, ...], scratch: Path) -> Mapping[str, str]:
    """Return further settings for Spark in a Java virtual machine that Assay starts itself.

    Spark gets them in addition to those of `session_settings`.

    Args:
        octets: The size of the journals' lines in bytes.
        options: Further options of the Java virtual machine.
        scratch: A folder for temporary files.
    """
    small, large = octets < SMALL_OCTETS, octets >= LARGE_OCTETS
    jvm = (*(_without_conflict(SMALL_OPTIONS) if small else ()), *options)
    return {
        "spark.app.name": "assay judge",
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraJavaOptions": " ".join(jvm),
        "spark.driver.host": LOOPBACK,
        **({} if small else {"spark.driver.memory": HEAP}),
        "spark.local.dir": str(scratch / "spark"),
        # Otherwise Spark calls the Python process for the source line of each column operator.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.codegen.wholeStage": "true" if large else "false",
        "spark.sql.codegen.factoryMode": "FALLBACK" if large else "NO_CODEGEN",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _without_conflict(options: tuple[str, ...]) -> tuple[str, ...]:
    """Leave the garbage collector out if the user chose one: with two, the virtual machine does not start."""
    chosen = " ".join(os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"))
    return tuple(one for one in options if not (_COLLECTOR.search(chosen) and _COLLECTOR.match(one)))


def _partitions(octets: int) -> int:
    if octets < TINY_OCTETS:
        return 1
    return 2 if octets < LARGE_OCTETS else max(8, octets // OCTETS_A_PARTITION)
