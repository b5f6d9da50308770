"""What all tests share: none is timed, and all take the same random examples everywhere, however often they run."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeated", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("explored", deadline=None, derandomize=False, print_blob=True)
# scripts/explore looks for new counter-examples; whatever it finds becomes an @example of the test.
settings.load_profile(os.environ.get("WAYVEIL_EXAMPLES", "repeated"))
