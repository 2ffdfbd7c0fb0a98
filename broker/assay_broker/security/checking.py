"""Password checks on threads, because each check is costly on purpose and must not block the loop.

OpenSSL's PBKDF2 runs without the interpreter's lock, so the loop moves messages during a check.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from assay_broker.security.users import Users


class PasswordChecks:
    """The password checks of one listener, on a pool of threads; further checks wait in their order.

    Args:
        users: The users that may log in.
        threads: The number of threads, each of which checks one password at a time.
        call_soon: Runs a job on the listener's loop; may be called from any thread.
    """

    def __init__(self, users: Users, threads: int, call_soon: Callable[[Callable[[], None]], None]) -> None:
        self._users = users
        self._call_soon = call_soon
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-login")

    def start(self, user: str, password: str, then: Callable[[bool], None]) -> Callable[[], None]:
        """Start the check of a password.

        Args:
            user: The user's name.
            password: The password that the client sent.
            then: Called on the loop with True if the user has this password, else with False.  Not called if the check
                was cancelled.

        Returns:
            A function that cancels the check.  A check that still waits for a thread is then never made.
        """
        cancelled = False
        found: Future[bool] = self._pool.submit(self._users.check, user, password)

        def done(_: Future[bool]) -> None:
            if not cancelled:  # after a cancel the loop may be closed
                self._call_soon(tell)

        def tell() -> None:
            if not cancelled:
                then(found.result())

        def cancel() -> None:
            nonlocal cancelled
            cancelled = True
            found.cancel()

        found.add_done_callback(done)
        return cancel

    def close(self) -> None:
        """Cancel the checks that wait for a thread; checks under way end on their threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
