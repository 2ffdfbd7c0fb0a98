"""Ctrl-C ends a run, even if the `KeyboardInterrupt` that it raises is lost.

A `KeyboardInterrupt` may be raised in a callback whose exceptions Python drops (a finalizer, a weak reference's), or
turn into another exception on its way out.  The scenario would then go on after a step that was only half done.  So the
handler notes that Ctrl-C was pressed; a scenario leaves no evidence after that (`check`), and the session ends as
interrupted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from types import FrameType, TracebackType
from typing import Self

import pytest


class Interrupts:
    """A pytest plugin that handles Ctrl-C while it is entered; at first it only notes it."""

    def __init__(self) -> None:
        self.asked = False
        """Whether Ctrl-C was pressed."""
        self._raises = False
        self._installed = False

    @classmethod
    def of(cls, config: pytest.Config) -> Interrupts:
        """The object of this pytest run; if it has none yet, a new one that lasts to its end."""
        for plugin in config.pluginmanager.get_plugins():
            if isinstance(plugin, cls):
                return plugin
        made = cls().__enter__()
        config.add_cleanup(made.leave)
        config.pluginmanager.register(made, "assay-interrupts")
        made.allow()
        return made

    def __enter__(self) -> Self:
        """Install the handler, unless the process has replaced Python's own handler of Ctrl-C."""
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
        """Restore the earlier handler."""
        if self._installed:
            self._installed = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def allow(self) -> None:
        """Let Ctrl-C interrupt the work from now on.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed already.
        """
        self._raises = True
        self.check()

    def defer(self) -> None:
        """Only note Ctrl-C from now on, because the remaining work is short and must finish."""
        self._raises = False

    def check(self) -> None:
        """Interrupt the work if Ctrl-C was pressed; on other threads do nothing, because they end with the main one.

        Raises:
            KeyboardInterrupt: It was pressed.
        """
        if self.asked and self._raises and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    def handle_once(self, number: int, frame: FrameType | None) -> None:
        """Handle another signal, such as SIGTERM, like Ctrl-C; do nothing if Ctrl-C was pressed already.

        Raises:
            KeyboardInterrupt: The signal is the first one, and the present work can be interrupted.
        """
        if not self.asked:
            self._handle(number, frame)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
        self.check()

    # for pytest ------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Once every scenario was tried, only the run's end is left."""
        ended = yield
        self.defer()
        return ended

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Begin no scenario after Ctrl-C."""
        self.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Only the run's end is left."""
        self.defer()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """However the session seems to have ended: after Ctrl-C it was interrupted."""
        self.defer()
        ended = yield
        if self.asked:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        return ended
