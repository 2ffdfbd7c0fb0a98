"""A Spark that Assay starts itself: it starts fast, listens on loopback addresses only and leaves no temporary files.

This module starts Spark's Java virtual machine, so that the machine's output goes to a file and does not mix with the
command's output.  If the start fails, the error shows a line of that file.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from assay_evidence.interrupts import ctrl_c_deferred
from assay_pipeline.errors import SparkFailedError
from assay_pipeline.session.environment import environment
from assay_pipeline.session.java import ClassArchive, find_java
from assay_pipeline.session.settings import LOOPBACK, machine_settings, session_settings

if TYPE_CHECKING:
    from subprocess import Popen

    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf
    from pyspark.core.context import SparkContext
    from pyspark.sql import SparkSession

_EXIT_SECONDS = 120


@contextmanager
def own_session(master: str, octets: int, conf: Mapping[str, str]) -> Generator[SparkSession, None, None]:
    """Start Spark and provide its session; at the block's end, stop its virtual machine and remove its files.

    Args:
        master: Spark's master URL: ``local[*]``, or a cluster's address.
        octets: The size of the journals' lines in bytes, which decides some settings.
        conf: Settings of the user, which override the pipeline's own settings.

    Raises:
        JavaMissingError: No Java was found, or the Java is too old.
        SparkFailedError: Spark does not start.
    """
    import pyspark
    from pyspark.sql import SparkSession

    archive = ClassArchive(find_java(), Path(str(pyspark.__file__)).parent / "jars")
    scratch = Path(tempfile.mkdtemp(prefix="assay-spark-"))
    log = scratch / "spark.log"
    ours = {**session_settings(octets), **machine_settings(octets, archive.options(), scratch)}
    settings = pyspark.SparkConf(loadDefaults=False).setAll(list({**ours, **conf, "spark.master": master}.items()))
    # Without SPARK_LOCAL_IP, Spark may choose an external address. Empty PYSPARK_SUBMIT_ARGS would keep Spark from
    # starting. Spark's Python processes read the data source, so they need the packages of this process.
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    try:
        with (
            environment({"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_SUBMIT_ARGS": None, "PYSPARK_PYTHON": python}),
            _without_py4js_words(),
            ExitStack() as ending,
        ):
            with ctrl_c_deferred():  # an interrupt here would leave the virtual machine running
                gateway = _launch(settings, log)
                ending.callback(_end, gateway)
                context = _context(settings, gateway, log)
            yield SparkSession(context)
        archive.keep()
    finally:
        archive.forget()
        shutil.rmtree(scratch, ignore_errors=True)


def _launch(conf: SparkConf, log: Path) -> JavaGateway:
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    with log.open("wb") as output:
        try:
            gateway: JavaGateway = launch_gateway(  # type: ignore[no-untyped-call]  # pyspark gives it no types
                conf, popen_kwargs={"stdout": output, "stderr": output}
            )
        except (PySparkException, OSError) as error:
            raise SparkFailedError(_last_words(log, str(error))) from error
        return gateway


def _context(conf: SparkConf, gateway: JavaGateway, log: Path) -> SparkContext:
    from py4j.protocol import Py4JError
    from pyspark.core.context import SparkContext

    with _own_interrupts():
        try:
            return SparkContext(conf=conf, gateway=gateway)
        except Py4JError as error:
            raise SparkFailedError(_last_words(log, str(error))) from error


@contextmanager
def _without_py4js_words() -> Generator[None, None, None]:
    """Keep py4j from logging a stack trace for each call that Ctrl-C interrupts, because the exception says enough.

    py4j logs to loggers of its own name and, for an interrupted call, to the root logger by `logging.exception`.  That
    function also installs a handler on standard error if the root logger has none.  So the root logger has Python's own
    handler of last resort during the block, and other modules' warnings appear as they do without Spark.
    """
    own, root = logging.getLogger("py4j"), logging.getLogger()
    level, handler = own.level, None if root.handlers else logging.lastResort
    own.setLevel(logging.CRITICAL + 1)
    root.addFilter(_is_not_py4js)
    if handler is not None:
        root.addHandler(handler)
    try:
        yield
    finally:
        if handler is not None:
            root.removeHandler(handler)
        root.removeFilter(_is_not_py4js)
        own.setLevel(level)


def _is_not_py4js(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


@contextmanager
def _own_interrupts() -> Generator[None, None, None]:
    """Keep this process's handler for Ctrl-C, because pyspark replaces it and never restores it.

    pyspark's handler cancels all jobs and raises `KeyboardInterrupt`.  Here it is not needed, because the end of the
    session cancels the jobs.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _end(gateway: JavaGateway) -> None:
    """Stop Spark and wait until its virtual machine has ended."""
    from pyspark.core.context import SparkContext

    process = cast("Popen[bytes]", gateway.proc)
    active = SparkContext._active_spark_context  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - reads it without creating one
    if active is not None and process.poll() is None:
        active.stop()
    # Even if the virtual machine has died and cannot be stopped, pyspark must forget the machine and its gateway;
    # pyspark has no public function for that.
    SparkContext._active_spark_context = None  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - see above
    gateway.shutdown()
    SparkContext._gateway = None  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - see above
    SparkContext._jvm = None  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - see above
    if process.stdin is not None:
        process.stdin.close()
    process.wait(_EXIT_SECONDS)


def _last_words(log: Path, otherwise: str) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    error = next((line for line in lines if "Exception" in line or "Error" in line), lines[-1] if lines else otherwise)
    return error if error.endswith(".") else f"{error}."
