"""The handling of Ctrl-C, which must end a run even if Python loses the `KeyboardInterrupt`.

Python drops exceptions of some callbacks, such as finalizers, and other code may replace a `KeyboardInterrupt` by
another exception.  The scenario would then continue after an incomplete step.  So the handler notes that the user has
pressed Ctrl-C; after that a scenario writes no evidence (`check`), and the session ends as interrupted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from types import FrameType, TracebackType
from typing import Self

import pytest


class Interrupts:
    """A pytest plugin and context manager that handles Ctrl-C inside its block.

    It only notes Ctrl-C until `allow` lets Ctrl-C interrupt the work.
    """

    def __init__(self) -> None:
        self.asked = False
        """Whether the user has pressed Ctrl-C."""
        self._raises = False
        self._installed = False

    @classmethod
    def of(cls, config: pytest.Config) -> Interrupts:
        """Return this pytest run's instance; create one that handles Ctrl-C to the run's end, if the run has none."""
        for plugin in config.pluginmanager.get_plugins():
            if isinstance(plugin, cls):
                return plugin
        made = cls().__enter__()
        config.add_cleanup(made.leave)
        config.pluginmanager.register(made, "assay-interrupts")
        made.allow()
        return made

    def __enter__(self) -> Self:
        """Install the handler, unless the program has replaced Python's own handler of Ctrl-C."""
        on_main = threading.current_thread() is threading.main_thread()
        if on_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the earlier handler."""
        self.leave()

    def leave(self) -> None:
        """Restore the earlier handler of Ctrl-C."""
        if self._installed:
            self._installed = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def allow(self) -> None:
        """Let Ctrl-C interrupt the work from now on.

        Raises:
            KeyboardInterrupt: The user has already pressed Ctrl-C.
        """
        self._raises = True
        self.check()

    def defer(self) -> None:
        """From now on, only note Ctrl-C, because the remaining work is short and must finish."""
        self._raises = False

    def check(self) -> None:
        """Interrupt the work if the user has pressed Ctrl-C and `allow` permits it; only on the main thread.

        Raises:
            KeyboardInterrupt: The user has pressed Ctrl-C.
        """
        if self.asked and self._raises and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    def handle_once(self, number: int, frame: FrameType | None) -> None:
        """Handle another signal, such as SIGTERM, like Ctrl-C; do nothing after an earlier signal or Ctrl-C.

        Raises:
            KeyboardInterrupt: This is the first signal, and the present work can be interrupted.
        """
        if not self.asked:
            self._handle(number, frame)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
        self.check()

    # for pytest ------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """After the last scenario, only note Ctrl-C, so that the run's end is complete."""
        ended = yield
        self.defer()
        return ended

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Stop the run before the next scenario if the user has pressed Ctrl-C."""
        self.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Only note further Ctrl-C, so that the run's end is complete."""
        self.defer()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Set the session's exit status to INTERRUPTED if the user has pressed Ctrl-C."""
        self.defer()
        ended = yield
        if self.asked:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        return ended
