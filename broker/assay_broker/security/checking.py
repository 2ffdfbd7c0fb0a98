"""Password checks on threads, because each check is costly on purpose and must not block the loop.

OpenSSL's PBKDF2 runs without the interpreter's lock, so the loop that moves messages goes on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from assay_broker.security.users import Users


class PasswordChecks:
    """The password checks of one listener. Checks without a free thread wait in the order they were started.

    Args:
        users: Who may log in.
        threads: How many passwords are checked at a time.
        call_soon: Runs a job on the listener's loop; may be called from any thread.
    """

    def __init__(self, users: Users, threads: int, call_soon: Callable[[Callable[[], None]], None]) -> None:
        self._users = users
        self._call_soon = call_soon
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-login")

    def start(self, user: str, password: str, then: Callable[[bool], None]) -> Callable[[], None]:
        """Check a password.

        Args:
            user: The name.
            password: The password.
            then: Called on the loop with whether it is the user's, unless the check was taken back.

        Returns:
            Takes the check back: one that waits is never made.
        """
        taken_back = False
        found: Future[bool] = self._pool.submit(self._users.check, user, password)

        def done(_: Future[bool]) -> None:
            if not taken_back:  # the loop of a withdrawn check may have been closed
                self._call_soon(tell)

        def tell() -> None:
            if not taken_back:
                then(found.result())

        def take_back() -> None:
            nonlocal taken_back
            taken_back = True
            found.cancel()

        found.add_done_callback(done)
        return take_back

    def close(self) -> None:
        """Start no more checks. Checks under way end on their threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
