"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("n6build", deadline=None)
settings.load_profile("n6build")
