"""Plans made earlier, which hold as long as all their inputs are unchanged.

Inputs are choices, code, and every file that planning read, looked for or listed. Checking them
takes a few milliseconds; planning takes hundreds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from n6build.base import uses
from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.closure import Code
from n6build.engine.ledger import FOLDER
from n6build.engine.plan import Plan, plan_json, read_plan_json
from n6build.engine.step import canonical


def remembered_plan(
    key: object, build: Path, code: Code, planner: str, make: Callable[[], Plan], *, keep: bool
) -> Plan:
    """Return the plan for a key, made earlier or now.

    Args:
        key: All choices, as JSON values.
        build: Folder of all build products.
        code: Code of the library.
        planner: Module whose import closure makes the plan.
        make: Function that makes the plan.
        keep: Whether the plan may be written.

    Raises:
        N6Error: Errors of `make`.
    """
    text = canonical(key)
    path = build / FOLDER / "plans" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    signature = code.digest_of(planner)
    known = _read(path, text, signature) if uses.trusts_earlier_builds() else None
    if known is not None:
        return known
    with uses.recorded() as used:
        plan = make()
    found = [[use.kind, use.path, use.pattern, uses.fingerprint(use)] for use in used.lines]
    if not keep:
        return plan
    document = {"key": text, "code": signature, "uses": found, "plan": plan_json(plan)}
    write_atomically(path, json.dumps(document) + "\n")
    return plan


def _read(path: Path, key: str, signature: str) -> Plan | None:
    """Return the plan in a file, None if it has to be made again for any reason."""
    try:
        document: Any = parse_json(content_of(path))
        if document["key"] != key or document["code"] != signature:
            return None
        used = uses.Uses()
        for kind, file, pattern, fingerprint in document["uses"]:
            used.lines[uses.Use(kind, file, pattern)] = ""
            if uses.fingerprint(uses.Use(kind, file, pattern)) != fingerprint:
                return None
        uses.repeat(used)
        return read_plan_json(document["plan"])
    except (OSError, N6Error, *WRONG_FIELDS):
        return None
