"""Time and memory of large weights, files, applications and projects.

    .venv/bin/python tools/bench_scale.py            the table of docs/matrix.md, a quarter of an hour
    .venv/bin/python tools/bench_scale.py weights    one part of it

Seconds are those of the processor, of scons and all that it starts: other work on the machine does
not count. Memory is that of the largest process. Works in a temporary copy of the project.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "site_scons"), str(ROOT / "tests")]

COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
BOARD = "stm32n6570-dk"
DESCRIBED = """name: {name}
file: {name}.tflite
sha256: "{sha256}"
network: {{input_type: int8, output_type: int8}}
"""
# These are the widths of the input, and of the tensors between layers.
WIDE = 4096
NARROW = 3840
# Each convolution takes 190 lines of network.c.
CONVOLUTIONS = 265
# Of several null builds the shortest counts, since other work on the machine takes longer than one.
REPEATS = 5


@dataclass(frozen=True)
class Cost:
    """The cost of a build.

    Attributes:
        seconds: Seconds of the processor.
        megabytes: Memory of the largest process.
    """

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        what: Its name.
        first: Cost of a build.
        again: Cost of the same build with nothing to do, None if there is none.
    """

    what: str
    first: Cost
    again: Cost | None = None


def scons(project: Path, *arguments: str) -> Cost:
    """Run a build, and return its cost.

    Raises:
        SystemExit: The build fails.
    """
    environment = {**os.environ, "PYTHONPATH": str(project / "site_scons")}
    command = [sys.executable, "-m", "SCons", "-Q", "-j2", *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise SystemExit(output.read().decode())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def built(project: Path, what: str, *arguments: str) -> Row:
    """Return the costs of a build, and of the same build with nothing to do."""
    first = scons(project, *arguments)
    # The second build reads the outputs of the first one again, when they are old enough to be reliable.
    scons(project, *arguments)
    return Row(what, first, min((scons(project, *arguments) for _ in range(REPEATS)), key=lambda cost: cost.seconds))


def add_models(project: Path, make: Callable[[int], bytes], sizes: Mapping[str, int]) -> None:
    """Add models in a process of their own.

    A process begins with the memory of its parent, which would count as its own.

    Args:
        project: The project.
        make: Make a model of a size.
        sizes: Sizes by name of the model.

    Raises:
        SystemExit: The models could not be made.
    """
    process = multiprocessing.get_context("spawn").Process(target=_add_models, args=(project, make, sizes))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the models could not be made")


def _add_models(project: Path, make: Callable[[int], bytes], sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        tflite = make(size)
        folder = project / "models" / name
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.tflite").write_bytes(tflite)
        described = DESCRIBED.format(name=name, sha256=hashlib.sha256(tflite).hexdigest())
        (folder / "model.yaml").write_text(described)


def weights_model(megabytes: int) -> bytes:
    """Return a model of fully connected layers with about so many weights."""
    from memory_models import ModelWriter  # noqa: PLC0415 - a module of the tests; see `add_models`.

    writer, left = ModelWriter(), megabytes * 10**6
    last = writer.input(1, 1, WIDE)
    while left >= WIDE:
        outputs = min(NARROW, left // writer.shapes[last][-1])
        left -= outputs * writer.shapes[last][-1]
        last = writer.fully_connected(last, outputs)
    return writer.model(last)


def layers_model(layers: int) -> bytes:
    """Return a model of small convolutions, one behind the other."""
    from memory_models import ModelWriter  # noqa: PLC0415 - a module of the tests; see `add_models`.

    writer = ModelWriter()
    last = writer.input(4, 4, 8)
    for _ in range(layers):
        last = writer.conv(last, 8)
    return writer.model(last)


def weights(project: Path) -> Iterator[Row]:
    """Yield costs from the model to the flashed virtual board.

    Files that do not depend on the model are built before.
    """
    target = (f"board={BOARD}", "probe=virtual", "flash")
    add_models(project, weights_model, {"other": 1, **{f"w{each}": each for each in (1, 15, 30, 45, 60)}})
    scons(project, *target, "model=other")
    for megabytes in (1, 15, 30, 45, 60):
        yield built(project, f"{megabytes} MB of weights", *target, f"model=w{megabytes}")
    for megabytes in (15, 30, 60):
        cost = scons(project, f"board={BOARD}", f"model=w{megabytes}", "hex")
        yield Row(f"hex file of {megabytes} MB", cost)


def other_ways(project: Path) -> Iterator[Row]:
    """Yield costs of large weights that are installed, signed, or read back.

    The Appli installs them; the virtual board reads them back.
    """
    target = (f"board={BOARD}", "probe=virtual")
    key = project / "key.pem"
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True)
    ways = {"installed": ("loader=reloc",), "signed": ("trust=full", f"trust_key={key}")}
    add_models(project, weights_model, {"other": 1, "w15": 15, "w60": 60})
    for what, options in ways.items():
        scons(project, *target, "flash", "model=other", *options)
        for megabytes in (15, 60):
            yield Row(f"{megabytes} MB, {what}", scons(project, *target, "flash", f"model=w{megabytes}", *options))
    for megabytes in (15, 60):
        scons(project, *target, "flash", f"model=w{megabytes}")
        yield Row(f"{megabytes} MB, read back by verify", scons(project, *target, "verify", f"model=w{megabytes}"))


def lines(project: Path) -> Iterator[Row]:
    """Yield the costs of a network.c of up to 50,000 lines."""
    target = (f"board={BOARD}", "probe=virtual", "flash")
    scons(project, *target, "model=keyword")
    sizes = {f"l{layers}": layers for layers in (CONVOLUTIONS // 5, CONVOLUTIONS)}
    add_models(project, layers_model, sizes)
    for layers in sizes.values():
        row = built(project, "", *target, f"model=l{layers}")
        source = (project / f"build/{BOARD}/l{layers}/network/network.c").read_text()
        yield Row(f"network.c of {source.count(chr(10)):,} lines", row.first, row.again)


def networks(project: Path) -> Iterator[Row]:
    """Yield the costs of many networks in one application."""
    scons(project, f"board={BOARD}", "probe=virtual", "flash", "model=keyword")
    names = [f"net{number:02}" for number in range(60)]
    add_models(project, layers_model, {name: 1 + number % 3 for number, name in enumerate(names)})
    for count in (15, 30, 60):
        models = f"model={','.join(names[:count])}"
        yield built(project, f"{count} networks in an application", f"board={BOARD}", "probe=virtual", "flash", models)


def models(project: Path) -> Iterator[Row]:
    """Yield the costs of a matrix of many models, planned and not built."""
    add_models(project, layers_model, {f"many{number:03}": 1 + number % 3 for number in range(200)})
    for count in (50, 100, 200):
        names = ",".join(f"many{number:03}" for number in range(count))
        arguments = ("-n", "matrix", f"boards={BOARD}", f"models={names}")
        yield Row(f"matrix of {count} models, planned", scons(project, *arguments))


def matrix(project: Path) -> Iterator[Row]:
    """Yield the costs of a matrix of many models, built, programmed and run."""
    for count in (20, 200):
        names = [f"{count}of{number:03}" for number in range(count)]
        add_models(project, layers_model, {name: 1 + number % 3 for number, name in enumerate(names)})
        yield built(project, f"matrix of {count} models, run", "matrix", f"boards={BOARD}", f"models={','.join(names)}")


def boards(project: Path) -> Iterator[Row]:
    """Yield the costs of a matrix of many boards, planned like `models`."""
    described = (project / f"boards/{BOARD}/board.yaml").read_text()
    for number in range(20):
        folder = project / f"boards/board{number:02}"
        folder.mkdir()
        text = described.replace(f"name: {BOARD}", f"name: board{number:02}").replace("aliases: [", "aliases: [] # ")
        (folder / "board.yaml").write_text(text)
    for count in (5, 10, 20):
        names = ",".join(f"board{number:02}" for number in range(count))
        arguments = ("-n", "matrix", f"boards={names}", "models=keyword")
        yield Row(f"matrix of {count} boards, planned", scons(project, *arguments))


PARTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "weights": weights,
    "other-ways": other_ways,
    "lines": lines,
    "networks": networks,
    "models": models,
    "boards": boards,
    "matrix": matrix,
}


def shown(row: Row) -> str:
    """Return a line of the table."""
    again = f"{row.again.seconds:.2f} s, {row.again.megabytes:.0f} MB" if row.again else ""
    return f"| {row.what} | {row.first.seconds:.1f} s, {row.first.megabytes:.0f} MB | {again} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table.

    Raises:
        SystemExit: A build fails.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    wanted = parser.parse_args(arguments).parts or PARTS
    print("| what | first build | nothing to do |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="n6scale-") as folder:
        for part in wanted:
            project = Path(folder) / part
            for name in COPIED:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
                project.mkdir(exist_ok=True)
                copy(ROOT / name, project / name)
            for row in PARTS[part](project):
                print(shown(row), flush=True)
            shutil.rmtree(project)
    return 0


if __name__ == "__main__":
    sys.exit(main())
