"""Update the generated parts of an STM32H747 application for a compiled network.

    python tools/patch_project.py PROJECT --c-info network_c_info.json --model model.yaml --axiram 400000 [--check]

Writes the camera's resolution into main.h, the activation buffers and the places of the pictures
into main.c, and the input buffer into ai_interface.h: only between their markers and in their
macros, with the text of ST's external_memory_mgt.py. The picture's size is that of the model file,
or of c_info if --model names none. --check changes nothing, and ends with status 1 if a file would
change. All files are read and checked before the first is written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "site_scons"))

from n6build.base.errors import N6Error  # noqa: E402
from n6build.base.files import write_atomically  # noqa: E402
from n6build.compile.application.h7_project import ProjectFiles, mismatch, patched_files, picture_of  # noqa: E402
from n6build.compile.artifacts.c_info_pools import read_activation_pools  # noqa: E402
from n6build.describe.model import load_model  # noqa: E402

_FOLDER = "Application/STM32H747I-DISCO"


def main(arguments: list[str]) -> int:
    """Update the files; return 0, 1 if --check found changes, 2 after an error.

    Errors are printed.
    """
    parser = argparse.ArgumentParser(prog="patch_project.py", description="generated parts of an existing C project")
    parser.add_argument("project", type=Path)
    parser.add_argument("--c-info", type=Path, required=True, help="network_c_info.json, for the NPU or for a Cortex-M")
    parser.add_argument(
        "--model", required=True, help="model file, or folder with a model.yaml that contains the aspect"
    )
    parser.add_argument("--axiram", type=int, required=True, help="bytes of AXI RAM for activations and pictures")
    parser.add_argument("--main-h", default=f"{_FOLDER}/Inc/CM7/main.h")
    parser.add_argument("--main-c", default=f"{_FOLDER}/Src/CM7/main.c")
    parser.add_argument("--interface-h", default=f"{_FOLDER}/Inc/CM7/ai_interface.h")
    parser.add_argument("--check", action="store_true", help="only list the files that would change")
    options = parser.parse_args(arguments)
    try:
        files = ProjectFiles(
            *(options.project / name for name in (options.main_h, options.main_c, options.interface_h))
        )
        model = load_model(str(options.model))
        network = read_activation_pools(options.c_info)
        picture = picture_of(network, model.file)
        if note := mismatch(network, picture):
            sys.stderr.write(f"note: {note}\n")
        changes = patched_files(files, network, picture, model.application, options.axiram)
        for path in changes:
            print(f"{'would change' if options.check else 'changed'} {path.relative_to(options.project).as_posix()}")
        if not options.check:
            for path, data in changes.items():
                mode = path.stat().st_mode
                write_atomically(path, data, durable=True)
                path.chmod(mode)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not changes:
        print("nothing to change")
    return 1 if options.check and changes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
