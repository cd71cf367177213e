"""Search for code that neither n6build nor its tools use.

Code for tests alone counts as unused.

    python tools/dead_code.py

vulture finds the names. Names that a template uses are in use, and functions that a step names as `module:function`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]
# Folders with templates.
TEMPLATES = ("firmware", "site_scons", "tools")
CHECKED = ("site_scons", "tools", "SConstruct")
# Checks register themselves with it.
DECORATORS = ("@check",)
NAMES = (
    # Members of families of modules (base/members.py).
    *("BACKEND", "NPU_OPERATORS", "PROGRAMMER"),
    # Called or read by SCons, pytest, MkDocs, and the libraries whose objects they belong to.
    *("allowcache", "execfunction", "get_max_drift_csig", "get_presig", "is_up_to_date", "keep_going", "make_ready"),
    *("n6_lock", "path_stats", "strfunction", "sync", "__class__", "pytest_*", "completer", "timestamp"),
    *("on_config", "on_files", "on_page_markdown", "on_post_build", "on_post_page", "on_pre_build"),
    *("graph_optimization_level", "int*_op_num_threads", "enable_*", "type_name", "log_severity_level"),
    *("_get_formatter", "_split_lines"),
    *("get_next", "infer_session", "histogram_dict", "signatureDefs", "quantization"),
    # Keys of files, and values of formats and protocols, that n6build itself does not use.
    *("internal_kib", "made_by", "optimize", "CACHE_CHECK", "COMPLETED", "NULL", "OK", "QUEUED"),
    # Cases of tools/bench.py, which finds them by name.
    *("pipeline", "null_builds", "neural_art", "remote_matrix", "damages", "mutated_boots", "islands"),
    "glitches",
    # An observation of a simulated installation, for the tests of it.
    "pool_writes",
)


def main() -> int:
    """Print unused code; return 1 if there is any."""
    vulture = Vulture(ignore_names=NAMES, ignore_decorators=DECORATORS)
    vulture.scavenge([ROOT / path for path in CHECKED])
    templates = [path for folder in TEMPLATES for path in (ROOT / folder).rglob("*.j2")]
    used = {word for path in templates for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    for path in (ROOT / "site_scons").rglob("*.py"):
        used.update(re.findall(r'"n6build\.[\w.]+:(\w+)"', path.read_text(encoding="utf-8")))
    unused = [item for item in vulture.get_unused_code(min_confidence=60) if item.name not in used]
    for item in unused:
        print(f"{item.filename}:{item.first_lineno}: {item.message}")
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
