"""The fake compiler's program, called as stedgeai.

Its first argument is its settings file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

LL_ATON = {"2.0": (1, 0, 0, 16), "2.1": (1, 1, 0, 31), "2.2": (1, 1, 1, 14), "3.0": (1, 1, 3, 8), "4.0": (1, 1, 3, 262)}
MACHINES = {
    "one": ("/home/one/project", "2026-05-30 12:02:04"),
    "two": ("C:/Users/two/work", "2027-01-02 03:04:05"),
}
E103 = "E103(CliRuntimeError): Error calling the Neural Art compiler"
BLOCK = """\
      >>> Shell execution has FAILED (returned code = 1)

      $ {place}/Utilities/linux/atonn -i {place}/model_OE_3_3_1.onnx --load-mpool {place}/n6build.mpool
      saving memory pool description "{place}/neural_art__network/n6build.mpool"
{lines}
      <<<

   {message}
"""


def block(*lines: str, message: str = E103) -> str:
    return BLOCK.replace("{lines}", "\n".join(f"      {line}" for line in lines)).replace("{message}", message)


OVERFLOW = (
    "Warning: Oauto did not find valid compile options: aborting",
    "Configuration 0: alt-scheduler(false):",
    "total bytes left unallocated=9674752",
    "Configuration 1: alt-scheduler(true):",
    "total bytes left unallocated=9412608",
)
FLOAT = "".join(f"WARNING: _model_{number}_conv_output_0 is not quantized\n" for number in range(40))
# Each scenario maps to (status, printed text). Those with status 0 go on to write artifacts.
FAILURES = {
    "pools too small": (255, block(*OVERFLOW)),
    "atonn failed": (255, block("Error: operator LSTM has no implementation")),
    "pools are no json": (
        255,
        block("Error: memory pool JSON ERROR:", "INVALID_ARGUMENT:Expected a value.", OVERFLOW[2]),
    ),
    "float model": (255, FLOAT + block(*OVERFLOW[:2], "total bytes left unallocated=2150083916")),
    "float model, status 0": (0, FLOAT),
    "ir version": (255, "INTERNAL ERROR: Your model ir_version 10 is higher than the checker's (9).\n"),
    "flow without npu": (
        255,
        "E700(UnfeasibleAllocation): Allocation Pass failed on schedule. Not enough memory on device\n"
        "Minimal sizes needed are: {'RAM': 6405160}\n",
    ),
    "invalid model": (255, "E010(InvalidModelError): Couldn't load TFLite model /home/one/model.tflite\n"),
    "importer": (255, "TOOL ERROR: list index out of range\n"),
    "arguments": (255, "E102(CliArgumentError): Wrong parameter: --input-data-type int7\n"),
    "letters": (
        255,
        "terminate called after throwing an instance of 'std::range_error'\n"
        "  what():  wstring_convert::from_bytes\n" + block("Internal compiler error (signo=22)"),
    ),
    "crash": (255, block("Internal compiler error (signo=11)")),
    "dropped quantisation": (0, 'Warning: invalid value "BOOL"\nIgnore Quantization JSON file\n'),
    "board side": (255, "E801(HwIOError): Invalid firmware - COM16:921600\n"),
    "ai studio": (
        255,
        "Run failed: Model does not fit in Board. RAM Size too low\n" + block(*OVERFLOW[:3]),
    ),
    "undefined pool symbol": (
        0,
        "network.o: in function `LL_ATON_Input_Buffers_Info_Default':\n"
        "network.c:(.text+0x12): undefined reference to `_mem_pool_xSPI2_Default'\n",
    ),
    "old profile key": (
        0,
        "WARNING: Unsupported keys in the current profile n6build are ignored: memory_desc\n"
        "\t> memory_desc is not a valid key anymore, use machine_desc instead\n",
    ),
    "usable output, status 255": (255, "E103(CliRuntimeError): something went wrong at the very end\n"),
    "nothing written": (0, "elapsed time (GENERATE): 0.003s\n"),
    "sleeps": (0, ""),
}


def main(settings_file: str, arguments: list[str]) -> int:
    settings = json.loads(Path(settings_file).read_text())
    print(f"ST Edge AI Core v{settings['build']}", flush=True)
    if arguments == ["--version"]:
        print("  cube-ai tools 12.0.1", flush=True)
        return 0
    sys.path.insert(0, settings["library"])
    options = contract(arguments)
    scenario, place = settings["scenario"], MACHINES[settings["machine"]][0]
    progress()
    if scenario == "sleeps":
        child = subprocess.Popen(["sleep", "3600"])
        Path(settings_file).with_name("sleeping").write_text(str(child.pid))
        time.sleep(3600)
    status, text = FAILURES.get(scenario, (0, ""))
    print(text.replace("{place}", place), flush=True)
    if scenario != "nothing written" and (status == 0 or "usable output" in scenario):
        write_artifacts(options, settings)
    return status


def contract(arguments: list[str]) -> dict[str, str]:
    """Check the requirements of the real tool; return its options.

    A breach ends the program with a status that no scenario has.
    """
    assert arguments[0] == "generate"
    switches = {argument: "1" for argument in arguments if argument == "--relocatable"}
    arguments = [argument for argument in arguments if argument not in switches]
    options = {**dict(zip(arguments[1::2], arguments[2::2], strict=False)), **switches}
    profile, _, file = options["--st-neural-art"].partition("@")
    described = json.loads(Path(file).read_bytes().decode("ascii"))["Profiles"][profile]
    mpool = Path(described["memory_pool"])
    json.loads(mpool.read_bytes().decode("ascii"))
    for path in (file, mpool, options["--model"], options["--output"], options["--workspace"]):
        assert Path(path).is_absolute(), path
    assert sys.stdin.read() == ""
    scrubbed = {"MAKEFLAGS", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "RM"}
    assert not scrubbed & set(os.environ)
    assert options["--target"] == "stm32n6"
    return {**options, "mpool": str(mpool), "compiler options": described["options"]}


def progress() -> None:
    for percent in (0, 40, 98, 100):
        sys.stdout.write(f"\rPASS: {percent:3}%|{'█' * (percent // 10):<10}| {percent}/100 [00:00<00:00, 90.1it/s]")
        sys.stdout.flush()
    sys.stdout.write("\r\x1b[2K \n")


def write_artifacts(options: dict[str, str], settings: dict[str, str]) -> None:
    """Write the artifacts of a release for the given pools.

    The reference backend makes them, and they get the release's form.
    """
    from n6build.compile.mpool import parse_mpool, pools_of_document
    from n6build.compile.reference.compile_model import compile_network

    name, out, workspace = options["--name"], Path(options["--output"]), Path(options["--workspace"])
    release = settings["build"][:3]
    place, date = MACHINES[settings["machine"]]
    mpool = Path(options["mpool"])
    pools = [pool for pool in pools_of_document(parse_mpool(mpool.read_bytes(), mpool.name), mpool.name) if pool.size]
    compile_network(Path(options["--model"]), pools, out, name=name, ll_aton=LL_ATON[release])

    major = int(release[0])
    source = with_operators((out / f"{name}.c").read_text())
    if major < 3:
        source = re.sub(rf"\b(LL_ATON_\w+)_{name}\b", r"\1_Default", source)
        (out / f"{name}.h").unlink()
    else:
        for file in (f"stai_{name}.h", f"stai_{name}.c"):
            (out / file).write_text(f"/* @date {date} */\n#define STAI_NETWORK_IN_NUM (1)\n")
    head = f'/*\n * BUILD_DATE "{date}"\n * --load-mpool-file = "{place}/my_mpools/n6build"\n * {place}/atonn\n */\n'
    if "--enable-epoch-controller" in options["compiler options"]:
        (out / f"{name}_ecblobs.h").write_text("/* No blobs: every epoch runs on the CPU. */\n")
        head += f'#include "{name}_ecblobs.h"\n'
    (out / f"{name}.c").write_text(head + renumbered(source))

    info = json.loads((out / f"{name}_c_info.json").read_text())
    info["environment"]["generated_model"]["generated_time"] = f"{date}+0200"
    info["environment"]["tools"] = [
        {
            "name": "ST.EdgeAI.Core",
            "version": settings["build"],
            "arguments": f"generate -m {place}/model.tflite",
            "environment": [f"STATS_TYPE={place}"],
            "input_model": model_as_named(Path(options["--model"])),
        }
    ]
    info["environment"]["network_signature"] = f"0x{zlib.crc32((out / f'{name}.c').read_bytes()):016x}"
    describe_as(release, info)
    (out / f"{name}_c_info.json").write_text(json.dumps(info))
    if release == "2.0":
        (workspace / f"neural_art__{name}").mkdir()
        (out / f"{name}_c_info.json").rename(workspace / f"neural_art__{name}" / "c_info.json")
    report = out / f"{name}_generate_report.txt"
    head = f"ST Edge AI Core v{settings['build']}\nCreated date          : {date}\n"
    head += f"Parameters            : generate -m {place}/models/model.tflite\n"
    hashed = info["environment"]["tools"][0]["input_model"]["model_files"][0]["signature"]
    report.write_text(f"{head}model_hash            : {hashed}\n{report.read_text()}")
    if "--relocatable" in options:
        relocate(workspace / f"{name}_npu_reloc_build", name, release)
    # Pools without initializers may leave an empty file.
    (out / f"{name}_atonbuf.xSPI1.raw").write_bytes(b"")
    print(f" Generated files (4)\n {place}/{name}.c\nelapsed time (GENERATE): 4.753s", flush=True)


def relocate(folder: Path, name: str, release: str) -> None:
    """Write a model without code in place of the tool's compiled and linked one."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from reloc.synthetic import synthetic_model

    folder.mkdir()
    (folder / f"{name}_rel.bin").write_bytes(synthetic_model(LL_ATON[release]))


def model_as_named(model: Path) -> dict[str, Any]:
    """Return the description of a model with the digest of its file."""
    digest = hashlib.md5(model.read_bytes(), usedforsecurity=False).hexdigest()
    files = [{"name": model.name, "signature": f"0x{digest}"}]
    return {
        "generated_time": "",
        "model_files": files,
        "name": model.stem,
        "size": model.stat().st_size,
        "type": "tflite",
    }


def with_operators(source: str) -> str:
    """Return network.c with all functions that its operators call, under other names.

    A network of ST's compiler calls no kernel of n6build's.
    """
    from n6build.base.paths import FIRMWARE
    from n6build.compile.kernel_files import files_of_kernels

    folder, seen = FIRMWARE / "kernels", set()

    def inlined(path: Path) -> str:
        def included(line: re.Match[str]) -> str:
            if not (folder / line[1]).exists():
                return line[0]
            first = line[1] not in seen
            seen.add(line[1])
            return inlined(folder / line[1]) if first else ""

        return re.sub(r'^#include "(\w+\.h)"$', included, path.read_text(), flags=re.MULTILINE)

    parts = []
    for path in files_of_kernels(set(re.findall(r"\bn6k_(\w+)", source))):
        # A static name may be that of something else in another file.
        own = re.sub(r"__attribute__\(\(.*?\)\)", "", path.read_text())
        names = {
            *re.findall(r"^static [^;(={]*\b(\w+)\(", own, re.MULTILINE),
            *re.findall(r"^} (\w+_t);", own, re.MULTILINE),
        }
        text = inlined(path)
        for each in names:
            text = re.sub(rf"\b{each}\b", f"{each}_of_{path.stem}", text)
        parts.append(text)
    return re.sub(r"\bn6k_(\w+)(?=\s?\()", r"st_\1", "\n".join([*parts, source]))


def renumbered(source: str) -> str:
    """Return the source with epochs from 2, because nothing runs in epoch 1."""
    numbers = r"\b(scheduling epoch=|epoch_num = |last_epoch_num = )(\d+)"
    return re.sub(numbers, lambda match: f"{match[1]}{int(match[2]) + 1}", source)


def describe_as(release: str, info: dict[str, Any]) -> None:
    """Change c_info in place to the epochs of real releases.

    See samples/c_info and samples/generated/core-2.2-transformer.
    """
    no_mapping = "NODE_SW" if release < "3" else "NODE_NO_X"
    (graph,) = info["graphs"]
    nodes = graph["nodes"]
    for number, node in enumerate(nodes, 2):
        node["name"] = f"epoch_{number}"
        node["macc"] = 0
    for number, (name, kind) in {
        0: ("weights", "Param"),
        1: ("Transpose_1", "Transpose"),
        len(nodes) + 2: ("__NN__RETURN__", "Return"),
    }.items():
        part = {
            **nodes[0]["subgraph_nodes"][0],
            "name": name,
            "description": f"Node kind={kind}",
            "mapping": no_mapping,
        }
        more = {**nodes[0], "name": f"epoch_{number}", "mapping": no_mapping, "subgraph_nodes": [part]}
        nodes.insert(number, more)
    for part in (part for node in nodes for part in node["subgraph_nodes"]):
        part["macc"] = 0
        if release >= "3":
            part["type"] = part.pop("description").removeprefix("Node kind=")
    if release == "2.0":
        for pool in info["memory_pools"]:
            del pool["fname"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
