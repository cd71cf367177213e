"""Networks with NPU epochs as relocatable models, in ST's loader.

They go through npu_driver.py and run on the virtual board.

A model needs weights in a relative pool. The samples have one such network, of Core 4.0.1, and no
library for relocatable models of that release. So the test changes its required version to 4.0.0,
and only that number. The others are made relative (relative_network.py).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from relative_network import with_relative_flash
from reloc.test_command_lines import call
from samples import sample, sample_core

from end_to_end.conftest import Project, Result, st_core


def _square(folder: Path) -> None:
    """Write the network as the tool puts it into a project, with weights as a C array."""
    folder.mkdir(parents=True)
    source = sample("npu/square-seg-core-4.0.1")
    for name in ("network.c", "network.h", "network_ecblobs.h", "network_atonbuf.xSPI2.c"):
        shutil.copyfile(source / name, folder / name)
    text = (folder / "network.c").read_text()
    assert text.count("LL_ATON_VERSION_DEV != 275") == 1
    (folder / "network.c").write_text(text.replace("LL_ATON_VERSION_DEV != 275", "LL_ATON_VERSION_DEV != 262"))


@dataclass(frozen=True)
class Network:
    """A network of ST's compiler.

    Attributes:
        release: Release of ST Edge AI Core.
        put: Function that writes it into a folder, with its flash pool relative.
        inputs: Shape and type of its input.
        sample: Its folder in the samples.
        reference: The model that it was compiled from, in its folder of the samples; None if it is
            not published.
        board: A board on which its weights fit at their fixed address.
    """

    name: str
    release: str
    put: Callable[[Path], object]
    inputs: tuple[tuple[int, ...], str]
    sample: str
    reference: str | None = None
    board: str = "nucleo-n657"


SQUARE = Network("square", "4.0.0", _square, ((1, 128, 128, 1), "int8"), "square-seg-core-4.0.1")
REID = Network(
    "reid",
    "3.0",
    lambda folder: with_relative_flash(sample("npu/reid-mobilenetv2-core-3.0"), folder),
    ((256, 128, 3), "uint8"),
    "reid-mobilenetv2-core-3.0",
    "mobilenetv2_a100_256_128_fft_int8.tflite",
)
YAMNET = Network(
    "yamnet",
    "2.2",
    lambda folder: with_relative_flash(sample("npu/yamnet-core-2.2"), folder),
    ((64, 96, 1), "int8"),
    "yamnet-core-2.2",
    board="stm32n6570-dk",
)


def noise(network: Network) -> np.ndarray:
    shape, kind = network.inputs
    limits = np.iinfo(kind)
    return np.random.default_rng(5).integers(limits.min, limits.max + 1, (2, *shape)).astype(kind)


def described(project: Project, network: Network, put: Callable[[Path], object], expected: int = 0) -> Path:
    """Write a model with two inputs.

    Args:
        expected: Elements of an output that no network has; 0 for the model's own outputs.
    """
    folder = project.root / "models" / network.name
    put(folder / "net")
    np.save(folder / "inputs.npy", noise(network))
    text = f"name: {network.name}\nnetwork: {{backend: prebuilt, folder: net}}\n"
    if expected:
        np.save(folder / "expected.npy", np.ones((2, expected), np.float32 if network is YAMNET else np.int8))
        text += "vectors: {inputs: inputs.npy, expected: expected.npy}\n"
    else:
        text += "vectors: {inputs: inputs.npy}\n"
    if network.reference:
        shutil.copyfile(sample(f"npu/{network.sample}/{network.reference}"), folder / network.reference)
        text += f"reference: {{model: {network.reference}}}\n"
    (folder / "model.yaml").write_text(text)
    return folder


def run(project: Project, network: Network, *options: str) -> Result:
    return project.scons(
        f"board={network.board}",
        f"model={network.name}",
        *options,
        "probe=virtual",
        "flash",
        "run",
        **st_core(sample_core(network.release)),
    )


def outputs(result: Result) -> list[str]:
    """Return the comparison of each vector's output, without the instruction counts."""
    return re.findall(r"Vector \d  done, [\d,]+ instructions, (.*)", result.output)


def made_by_npu_driver(project: Project, network: Network, *options: str) -> bytes:
    """Return the relocatable model that npu_driver.py makes."""
    out = project.root / "by-npu-driver"
    source = project.root / "models" / network.name / "net"
    (network_c,) = (each for each in source.glob("*.c") if "_atonbuf" not in each.name)
    made = call("npu_driver", "-i", network_c, "-o", out, "--pack-dir", sample_core(network.release), *options)
    assert made.returncode == 0, made.stderr
    return (out / f"{network_c.stem}_rel.bin").read_bytes()


def installed(project: Project, network: Network) -> bytes:
    """Return the model that the run installed."""
    (file,) = (project.root / f"build/{network.board}/{network.name}-reloc").glob("*_rel/*_rel.bin")
    return file.read_bytes()


def test_a_network_with_a_relative_pool_runs_on_the_npu(project: Project) -> None:
    described(project, SQUARE, SQUARE.put)
    result = run(project, SQUARE, "loader=reloc").done()
    assert "n6 model square slot=a revision=0 mode=copy" in result.output
    assert "Finding" not in result.output
    assert re.search(r"^ +14  epochs  +1,666,187,264 ", result.output, re.MULTILINE), result.output
    assert made_by_npu_driver(project, SQUARE) == installed(project, SQUARE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "elements"), [(SQUARE, 16384), (YAMNET, 10)], ids=lambda each: getattr(each, "name", "")
)
def test_it_gives_what_the_linked_network_gives_however_it_is_installed(
    network: Network, elements: int, project: Project
) -> None:
    """The test above runs always and covers the way to get there."""
    folder = described(project, network, network.put, elements)
    ways = (("load=copy",), ("load=xip", "split=1"), ("load=copy", "slots=2"))
    relocated = [outputs(run(project, network, "loader=reloc", *way)) for way in ways]
    shutil.rmtree(folder)
    fixed = network.put if network is SQUARE else lambda to: shutil.copytree(sample(f"npu/{network.sample}"), to)
    described(project, network, fixed, elements)
    linked = outputs(run(project, network))
    assert len(linked) == 2
    assert relocated == [linked] * len(ways)


@pytest.mark.slow
def test_its_outputs_are_those_of_the_model(project: Project) -> None:
    """The first test above runs always and covers the way to get there.

    The model of that test is not published.
    """
    described(project, REID, REID.put)
    result = run(project, REID, "loader=reloc")
    assert ("Result 2 of 2 outputs are as expected of the chip, cosine 0.99") in result.output, result.output
    assert made_by_npu_driver(project, REID) == installed(project, REID)
