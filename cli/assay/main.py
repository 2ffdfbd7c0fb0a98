"""The entry point of the command; it loads everything else itself, after it has set what a signal does meanwhile."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command; every error is one sentence and an exit code, never a stack trace.

    While the command's modules load, which takes most of a second, SIGTERM and Ctrl-C end the process as the system
    does, without a word: a shell sees 128 and the signal's number. Afterwards they stop the subcommand in order, and
    so does SIGHUP, which comes when the terminal is closed.
    """
    by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if by_python:  # a shell starts what it puts in the background with SIGINT ignored, which stays so
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from assay.application import load, outcome, stopped_early
    from assay.terminal import open_missing_streams
    from assay_evidence.interrupts import as_ctrl_c

    def stopped(_number: int, frame: FrameType | None) -> None:
        """Stop the command on SIGTERM as on Ctrl-C, so that its processes end with it."""
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        (on_ctrl_c if callable(on_ctrl_c) else as_ctrl_c(signal.default_int_handler))(signal.SIGINT, frame)

    terminals = [stream for stream in (1, 2) if os.isatty(stream)]

    def hung_up(number: int, frame: FrameType | None) -> None:
        """Stop on SIGHUP likewise, once: shell and system both send it; a closed terminal takes no output any more."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in terminals:
            os.dup2(nowhere, stream)
        os.close(nowhere)
        stopped(number, frame)

    open_missing_streams()
    loaded = load(sys.argv[1:])
    try:
        if by_python:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, stopped)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # under nohup it is ignored, and stays so
            signal.signal(signal.SIGHUP, hung_up)
        code = outcome(loaded, sys.argv[1:])
    except KeyboardInterrupt:  # before or after the subcommand, which has its own end for it
        code = stopped_early()
    sys.exit(code)
