"""A plan like n6build's own: one board, one model, from headers to a run."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence

import pytest
from n6build.engine.picture import plan_svg
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step, to_parameters

BOARD = "build/nucleo_n657x0_q"
APPLICATION = f"{BOARD}/keyword"
YAML = ("boards/nucleo_n657x0_q/board.yaml", "boards/soc/stm32n657.yaml")
HEADERS = (f"{BOARD}/include/n6_soc.h", f"{BOARD}/include/n6_board.h")
SOURCES = {
    "bring_up": ("cache", "clock", "npu", "power", "startup", "uart", "xspi", "security"),
    "fsbl": ("boot", "fsbl_main", "load_appli"),
    "kernels": ("conv2d", "depthwise", "fully_connected", "mean", "pool", "reshape", "softmax", "add", "quantize"),
    "runtime": ("ll_aton", "ll_aton_caches", "ll_aton_lib", "ll_aton_rt_main", "ll_aton_util", "ll_sw_float"),
    "appli": ("n6_appli", "n6_inference", "n6_link", "n6_slot", "n6_cycles", "n6_console", "syscalls"),
}
# Any module will do, since none of its functions is called.
FUNCTION = "n6build.steps.c_array:make_c_array"


def make(verb: str, stage: str, outputs: str | Sequence[str], sources: Sequence[str] = (), **more: object) -> Step:
    outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    given: dict[str, object] = {"function": "" if "command" in more else FUNCTION, **more}
    parameters = to_parameters(given.pop("parameters", {}))
    return Step(verb, stage, outputs, tuple(sources), parameters=parameters, made_at="sample", **given)  # type: ignore[arg-type]


def compilation(folder: str, source: str, after: Sequence[str] = HEADERS) -> Step:
    output = f"{folder}/{source.rpartition('/')[2].removesuffix('.c')}.o"
    command = ("arm-none-eabi-gcc", "-o", output, "-c", "-mcpu=cortex-m55", "-O2", source)
    return make("Compile", "compile", output, (source,), command=command, after=tuple(after), depfile=f"{output}.d")


def link(elf: str, objects: Sequence[str], scripts: Sequence[str]) -> Step:
    command = ("arm-none-eabi-gcc", "-o", elf, *objects)
    return make("Link", "link", (elf, elf.replace(".elf", ".map")), (*objects, *scripts), command=command)


def application_plan() -> Plan:
    board = {"name": "NUCLEO-N657X0-Q", "revision": "C01"}
    headers = [make("Header", "header", header, YAML, parameters={"board": board}) for header in HEADERS]
    network = [
        f"{APPLICATION}/network/network{each}" for each in (".c", ".h", "_c_info.json", "_report.txt", ".xSPI2.raw")
    ]
    plan = [f"{APPLICATION}/{each}" for each in ("memory_plan.json", "n6_memory_plan.c", "n6_pools.ld")]
    compiled = {
        place: [
            compilation(
                f"{BOARD}/{place}" if place == "fsbl" else f"{BOARD}/common/{place}", f"firmware/{place}/{name}.c"
            )
            for name in names
        ]
        for place, names in SOURCES.items()
    }
    own = [
        compilation(f"{APPLICATION}/appli", network[0], (*HEADERS, *plan, network[1])),
        compilation(f"{APPLICATION}/appli", plan[1]),
    ]
    objects = {place: [step.name for step in steps] for place, steps in compiled.items()}
    scripts = (f"{BOARD}/fsbl/fsbl.ld", f"{BOARD}/common/appli.ld")
    elves = (f"{BOARD}/fsbl/fsbl.elf", f"{APPLICATION}/appli/appli.elf")
    images = (f"{BOARD}/fsbl_image.bin", f"{APPLICATION}/appli_image.bin")
    slots = (f"{APPLICATION}/weights.bin", f"{APPLICATION}/vectors.bin")
    manifest, checks = f"{APPLICATION}/flash_manifest.json", f"{APPLICATION}/checks.json"
    in_appli = [each for place in ("kernels", "runtime", "bring_up", "appli") for each in objects[place]]
    steps = [
        make(
            "Network",
            "network",
            network,
            ("models/keyword/keyword.tflite",),
            parameters={"name": "network", "pools": 9},
        ),
        make("Plan", "plan", plan, (*network, *YAML), parameters={"board": board, "profile": "extflash"}),
        *headers,
        *(step for steps in compiled.values() for step in steps),
        *own,
        *(make("Script", "header", script, YAML) for script in scripts),
        link(elves[0], [*objects["bring_up"], *objects["fsbl"]], scripts[:1]),
        link(elves[1], [*in_appli, *(step.name for step in own)], (scripts[1], plan[2])),
        make("Image", "image", images[0], elves[:1], parameters={"kind": "FSBL"}),
        make("Image", "image", images[1], elves[1:], parameters={"kind": "SSBL"}),
        make("Weights", "image", slots[0], (network[4], plan[0]), parameters={"network": "network"}),
        make("Vectors", "image", slots[1], ("models/keyword/inputs.npy",)),
        make("Manifest", "image", manifest, (plan[0], *images, *slots, *YAML), parameters={"board": board}),
        make("Hex", "image", f"{APPLICATION}/firmware.hex", (manifest, *images, *slots)),
        make("Sizes", "image", f"{APPLICATION}/sizes.txt", (manifest, *elves, plan[0], *images, *slots, *YAML)),
        make("Header", "header", f"{APPLICATION}/app/app_config.h", network),
        make("Check", "checks", checks, (plan[0], manifest, *network, *YAML), parameters={"board": board}),
        make("Verdict", "checks", f"{APPLICATION}/checks.txt", (checks,)),
        make(
            "Flash",
            "flash",
            f"{APPLICATION}/flash.json",
            (manifest, *images, *slots),
            after=(f"{APPLICATION}/checks.txt",),
        ),
        make(
            "Run", "run", f"{APPLICATION}/run.json", (*elves, f"{APPLICATION}/flash.json", *network, *YAML), always=True
        ),
    ]
    return make_plan(steps, {"run": (f"{APPLICATION}/run.json",)})


def svg_of(plan: Plan, done: Collection[str] | None = None) -> str:
    """Return the picture of a plan; the test is skipped without Graphviz."""
    if shutil.which("dot") is None:
        pytest.skip("no pictures of plans: dot is not in PATH, a first make setup installs it")
    return plan_svg(plan, done)
