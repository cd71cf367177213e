"""Where this checkout keeps what the library reads: n6build runs from its own tree, also when another project embeds it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOARDS = ROOT / "boards"
MODELS = ROOT / "models"
FIRMWARE = ROOT / "firmware"
TEMPLATES = FIRMWARE / "templates"
