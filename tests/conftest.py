"""What holds for all tests."""

from __future__ import annotations

try:
    from hypothesis import settings
except ImportError:  # a base install, whose pytest comes by here when it is started at the clone's root
    settings = None

if settings is not None:
    # A busy machine is no failure: no example is timed.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
