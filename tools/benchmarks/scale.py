"""Time and memory of large weights, files, applications and projects.

Seconds are those of the processor, of scons and all that it starts: other work on the machine does
not count. Memory is that of the largest process.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.measure import Head, Row, Rows, Spent, least, run, scons, temporary_project

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
REPEATS = 5
FLASH = (f"board={BOARD}", "probe=virtual", "flash")


def scale(*parts: str) -> Rows:
    """Yield the costs of large inputs, of all parts or of some."""
    yield Head(("input", "first build", "nothing to do"))
    for part in parts or PARTS:
        with temporary_project() as project:
            yield from PARTS[part](project)


def _row(name: str, first: Spent, again: Spent | None = None) -> Row:
    null = f"{again.cpu:.2f} s, {again.megabytes:.0f} MB" if again else ""
    return name, f"{first.cpu:.1f} s, {first.megabytes:.0f} MB", null


def _built(project: Path, name: str, *arguments: str) -> Row:
    """Return the costs of a build, and of the same build with nothing to do."""
    first = scons(project, *arguments)
    # The second build reads the outputs of the first one again, when they are old enough to be reliable.
    scons(project, *arguments)
    return _row(name, first, least(scons(project, *arguments) for _ in range(REPEATS)))


def _add_models(project: Path, make: Callable[[int], bytes], sizes: Mapping[str, int]) -> None:
    """Add models in a process of their own.

    A process begins with the memory of its parent, which would count as its own.

    Args:
        project: The project.
        make: Make a model of a size.
        sizes: Sizes by name of the model.

    Raises:
        SystemExit: The models could not be made.
    """
    process = multiprocessing.get_context("spawn").Process(target=_write_models, args=(project, make, sizes))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the models could not be made")


def _write_models(project: Path, make: Callable[[int], bytes], sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        tflite = make(size)
        folder = project / "models" / name
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.tflite").write_bytes(tflite)
        described = DESCRIBED.format(name=name, sha256=hashlib.sha256(tflite).hexdigest())
        (folder / "model.yaml").write_text(described)


def _weights_model(megabytes: int) -> bytes:
    """Return a model of fully connected layers with about so many weights."""
    from memory_models import ModelWriter  # noqa: PLC0415 - a module of the tests; see `_add_models`.

    writer, left = ModelWriter(), megabytes * 10**6
    last = writer.input(1, 1, WIDE)
    while left >= WIDE:
        outputs = min(NARROW, left // writer.shapes[last][-1])
        left -= outputs * writer.shapes[last][-1]
        last = writer.fully_connected(last, outputs)
    return writer.model(last)


def _layers_model(layers: int) -> bytes:
    """Return a model of small convolutions, one behind the other."""
    from memory_models import ModelWriter  # noqa: PLC0415 - a module of the tests; see `_add_models`.

    writer = ModelWriter()
    last = writer.input(4, 4, 8)
    for _ in range(layers):
        last = writer.conv(last, 8)
    return writer.model(last)


def _small_models(project: Path, count: int, prefix: str) -> list[str]:
    """Add models of one to three layers, and return their names."""
    names = [f"{prefix}{number:03}" for number in range(count)]
    _add_models(project, _layers_model, {name: 1 + number % 3 for number, name in enumerate(names)})
    return names


def _weights(project: Path) -> Rows:
    """Yield costs from the model to the flashed virtual board.

    Files that do not depend on the model are built before.
    """
    sizes = (1, 15, 30, 60)
    _add_models(project, _weights_model, {"other": 1, **{f"w{each}": each for each in sizes}})
    scons(project, *FLASH, "model=other")
    for megabytes in sizes:
        yield _built(project, f"{megabytes} MB of weights", *FLASH, f"model=w{megabytes}")
    for megabytes in sizes[1:]:
        cost = scons(project, f"board={BOARD}", f"model=w{megabytes}", "hex")
        yield _row(f"hex file of {megabytes} MB", cost)


def _other_ways(project: Path) -> Rows:
    """Yield costs of large weights that are installed, signed, or read back.

    The Appli installs them; the virtual board reads them back.
    """
    key = project / "key.pem"
    run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key])
    ways = {
        "installed (`loader=reloc`)": ("loader=reloc",),
        "signed (`trust=full`)": ("trust=full", f"trust_key={key}"),
    }
    sizes = (15, 60)
    _add_models(project, _weights_model, {"other": 1, **{f"w{each}": each for each in sizes}})
    for name, options in ways.items():
        scons(project, *FLASH, "model=other", *options)
        for megabytes in sizes:
            yield _row(f"{megabytes} MB, {name}", scons(project, *FLASH, f"model=w{megabytes}", *options))
    for megabytes in sizes:
        scons(project, *FLASH, f"model=w{megabytes}")
        cost = scons(project, *FLASH[:2], "verify", f"model=w{megabytes}")
        yield _row(f"{megabytes} MB, read back by `verify`", cost)


def _lines(project: Path) -> Rows:
    """Yield the costs of a network.c of up to 50,000 lines."""
    scons(project, *FLASH, "model=keyword")
    sizes = {f"l{layers}": layers for layers in (CONVOLUTIONS // 5, CONVOLUTIONS)}
    _add_models(project, _layers_model, sizes)
    for name in sizes:
        _, *costs = _built(project, "", *FLASH, f"model={name}")
        source = (project / f"build/{BOARD}/{name}/network/network.c").read_text()
        yield f"network.c of {source.count(chr(10)):,} lines", *costs


def _networks(project: Path) -> Rows:
    """Yield the costs of many networks in one application."""
    scons(project, *FLASH, "model=keyword")
    names = _small_models(project, 60, "net")
    for count in (15, 30, 60):
        yield _built(project, f"{count} networks in an application", *FLASH, f"model={','.join(names[:count])}")


def _models(project: Path) -> Rows:
    """Yield the costs of a matrix of many models, planned and not built."""
    names = _small_models(project, 200, "many")
    for count in (50, 100, 200):
        chosen = f"models={','.join(names[:count])}"
        yield _row(f"matrix of {count} models, planned", scons(project, "-n", "matrix", f"boards={BOARD}", chosen))


def _matrix(project: Path) -> Rows:
    """Yield the costs of a matrix of many models, built, programmed and run."""
    for count in (20, 200):
        names = _small_models(project, count, f"{count}of")
        title = f"matrix of {count} models, built, programmed and run"
        yield _built(project, title, "matrix", f"boards={BOARD}", f"models={','.join(names)}")


def _boards(project: Path) -> Rows:
    """Yield the costs of a matrix of many boards, planned like `_models`."""
    described = (project / f"boards/{BOARD}/board.yaml").read_text()
    names = [f"board{number:02}" for number in range(20)]
    for name in names:
        (project / "boards" / name).mkdir()
        text = described.replace(f"name: {BOARD}", f"name: {name}").replace("aliases: [", "aliases: [] # ")
        (project / "boards" / name / "board.yaml").write_text(text)
    for count in (5, 10, 20):
        chosen = f"boards={','.join(names[:count])}"
        yield _row(f"matrix of {count} boards, planned", scons(project, "-n", "matrix", chosen, "models=keyword"))


PARTS: dict[str, Callable[[Path], Rows]] = {
    "weights": _weights,
    "other-ways": _other_ways,
    "lines": _lines,
    "networks": _networks,
    "models": _models,
    "boards": _boards,
    "matrix": _matrix,
}
