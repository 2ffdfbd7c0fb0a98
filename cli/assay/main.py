"""The entry point of the command: handles signals during the imports of the other modules and after them."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command; an error of the user or the machine ends it with one sentence and an exit code.

    Only a bug of the kit shows a stack trace.

    The imports take most of a second.  During the imports, SIGTERM and Ctrl-C end the process without output: the shell
    sees 128 plus the signal's number.  After the imports, SIGTERM, Ctrl-C and SIGHUP (a closed terminal) stop the
    subcommand normally.
    """
    by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if by_python:  # a shell starts background commands with SIGINT ignored: it stays ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from assay.application import load, outcome, stopped_early
    from assay.terminal import open_missing_streams
    from assay_evidence.interrupts import as_ctrl_c

    def stopped(_number: int, frame: FrameType | None) -> None:
        """Stop the command on SIGTERM as on Ctrl-C, so that its processes end, too."""
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        (on_ctrl_c if callable(on_ctrl_c) else as_ctrl_c(signal.default_int_handler))(signal.SIGINT, frame)

    terminals = [stream for stream in (1, 2) if os.isatty(stream)]

    def hung_up(number: int, frame: FrameType | None) -> None:
        """Stop the command on SIGHUP as on Ctrl-C, and write no more output to the closed terminal.

        Ignore a second SIGHUP, because both the shell and the system send one.
        """
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
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores SIGHUP: it stays ignored
            signal.signal(signal.SIGHUP, hung_up)
        code = outcome(loaded, sys.argv[1:])
    except KeyboardInterrupt:  # Ctrl-C before or after the subcommand
        code = stopped_early()
    sys.exit(code)
