"""Inputs that once ended in a traceback, or did not end."""

from __future__ import annotations

FOUND: list[tuple[str, bytes]] = []
