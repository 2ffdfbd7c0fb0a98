"""What holds for all tests."""

from __future__ import annotations

import signal

try:
    from hypothesis import settings
except ImportError:  # a base install, whose pytest comes by here when it is started at the clone's root
    settings = None

if settings is not None:
    # A busy machine is no failure: no example is timed.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    # What tries more on demand: `--hypothesis-profile=thorough`.
    settings.register_profile("thorough", deadline=None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what it puts into the background; there are tests that press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
