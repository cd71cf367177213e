"""A compiled network in the model of the NPU alone, epoch by epoch.

Each epoch gets the tensors of the reference interpreter, as in a run with epochs=1, but nothing is built
and no CPU is emulated: only epochs in blobs run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from intelhex import IntelHex
from n6build.board.run.epoch_test import Watched, watched
from n6build.compile.artifacts.description import EpochBlock
from n6build.compile.artifacts.made_buffers import made_buffers
from n6build.compile.artifacts.network_c import SourceBuffer, SourcePool, read_network_c
from n6build.compile.neural_art.hardware_epoch import READ_AHEAD
from n6build.describe.formats.npu_blob import MAGIC
from n6build.describe.hardware.boards import load_board
from n6build.judge.compare.buffers import join_buffers
from n6build.judge.compare.interpret import interpret, ports_of
from n6build.judge.compare.tensors import ReferenceTensor
from n6build.judge.npu.blobs import Blob, blobs_of_network
from n6build.judge.npu.disassemble import Label, instructions
from n6build.judge.own_blobs.model_program import Exchange, Run, find_program, replay

BOARD = "stm32n6570-dk"
# No board has memory at these addresses: blobs, and buffers of the application.
_BLOBS_AT, USER_AT = 0x1000_0000, 0xA000_0000
_USER_BYTES = 4 << 20
_RAM_AT, _RAM_BYTES = 0x3400_0000, 0x40_0000
_PSRAM_AT, _PSRAM_BYTES = 0x9000_0000, 0x200_0000
_MAPPINGS = {"hw": "NODE_HW", "sw": "NODE_SW", "hybrid": "NODE_SW_HW", "ec": "NODE_EC"}


@dataclass(frozen=True)
class Network:
    """A network and everything that its epochs read.

    Attributes:
        name: Name of the network.
        tensors: Tensors of the reference interpreter.
        blobs: Its blobs, by their first epoch.
        regions: Memory by address, with weights.
        weights: Address and bytes of each buffer of weights, by name.
        watched: Compared buffers, by epoch.
        inputs: Address and content of the network's inputs.
        user: Address of each buffer of the application, by its name.
        files: First addresses of the memories that come from files of weights.
    """

    name: str
    tensors: tuple[ReferenceTensor, ...]
    blobs: Mapping[int, Blob]
    regions: Mapping[int, bytes]
    weights: Mapping[str, tuple[int, int]]
    watched: tuple[Watched, ...]
    inputs: tuple[tuple[int, bytes], ...]
    user: Mapping[str, int] = field(default_factory=dict)
    files: frozenset[int] = frozenset()


def load_network(source: Path, model: Path) -> Network:
    """Read a network, and run its model on a smooth random input.

    Args:
        source: network.c, with its blobs and its weights beside it.
        model: The model that it was compiled from.
    """
    network = read_network_c(source)
    takes, _ = ports_of(model)
    given = [_smooth(port.shape, port.type, seed) for seed, port in enumerate(takes, 3)]
    tensors = interpret(model, given)
    user = {f"_user_io_input_{i}": USER_AT + i * _USER_BYTES for i in range(len(network.inputs))}
    user |= {f"_user_io_output_{i}": USER_AT + (8 + i) * _USER_BYTES for i in range(len(network.outputs))}
    files = weights_beside(source, network.pools)
    regions = {_RAM_AT: bytes(_RAM_BYTES), _PSRAM_AT: bytes(_PSRAM_BYTES)} | files
    regions |= {address: bytes(_USER_BYTES) for address in user.values()}
    joined, _ = join_buffers(made_buffers(source.parent, source.stem), tensors)
    blocks = [EpochBlock(each.index, each.last, _MAPPINGS[each.kind]) for each in network.epochs]
    found, _ = watched(0, joined, blocks)
    outputs = {each.name: user[f"_user_io_output_{i}"] for i, each in enumerate(network.outputs)}
    return Network(
        source.parent.name,
        tensors,
        {
            block.index: blob
            for block, blob in zip(
                [each for each in network.epochs if each.kind == "ec"],
                blobs_of_network(source, network.ecblobs_header),
                strict=True,
            )
        },
        regions,
        {each.name: (_address(each, 0), each.offset_end - each.offset_start) for each in network.params if each.base},
        tuple(sorted(_placed(found, outputs), key=lambda each: each.joined.buffer.epoch)),
        tuple(
            (_address(each, user[f"_user_io_input_{i}"]), _as_input(each, values))
            for i, (each, values) in enumerate(zip(network.inputs, given, strict=True))
        ),
        user,
        frozenset(files),
    )


def _smooth(shape: Sequence[int], kind: str, seed: int) -> np.ndarray:
    """Return noise whose neighbours resemble each other, as those of pictures do."""
    values = np.random.default_rng(seed).integers(0, 256, shape)
    for _ in range(2):
        values = (values + np.roll(values, 1, 1) + np.roll(values, 1, 2) + np.roll(values, 2, 1)) // 4
    less = 128 if kind == "int8" else 0
    return (values - less).astype(kind)


def _as_input(buffer: SourceBuffer, values: np.ndarray) -> bytes:
    less = 128 if buffer.type == "int8" and values.dtype == np.uint8 else 0
    more = 128 if buffer.type == "uint8" and values.dtype == np.int8 else 0
    return (values.astype(np.int16) + more - less).astype(buffer.type).tobytes()


def _address(buffer: SourceBuffer, otherwise: int) -> int:
    return otherwise if buffer.base is None else buffer.base + buffer.offset_start


def _placed(found: Sequence[Watched], outputs: Mapping[str, int]) -> Iterator[Watched]:
    """Yield buffers with their addresses, except others in an output's memory."""
    for each in found:
        buffer = each.joined.buffer
        if buffer.address is not None:
            yield each
        elif buffer.name in outputs:
            yield replace(each, joined=replace(each.joined, buffer=replace(buffer, address=outputs[buffer.name])))


def weights_beside(source: Path, pools: Sequence[SourcePool]) -> dict[int, bytes]:
    """Return the memories with weights by address, from the files beside network.c."""
    found: dict[int, bytes] = {}
    for pool in pools:
        for file in source.parent.glob(f"*.{pool.fname}.*"):
            if file.suffix in (".bin", ".raw"):
                found[pool.address] = file.read_bytes() + bytes(READ_AHEAD)
    for file in source.parent.glob("*_data.hex"):
        content = IntelHex(str(file))
        found |= {first: content.tobinstr(first, end - 1) + bytes(READ_AHEAD) for first, end in content.segments()}
    return found


def words_in_memory(blob: Blob, words: Sequence[int], user: Mapping[str, int]) -> bytes:
    """Return a blob as the controller reads it, with the addresses of a loader."""
    found = list(words)
    for each in blob.container.relocations if blob.container else ():
        for place in each.places:
            found[place] += user.get(each.name, 0)
    return np.array([MAGIC, len(found), *found], "<u4").tobytes()


def run_forced(network: Network, words: Mapping[int, Sequence[int]], weights: Mapping[int, bytes]) -> dict[str, bytes]:
    """Return the bytes of each compared buffer that a blob makes.

    Args:
        network: The network.
        words: Words of changed blobs, by their first epoch.
        weights: Changed bytes of weights, by address.
    """
    program = find_program(load_board(BOARD).soc)
    regions = [(address, changed(address, data, weights)) for address, data in network.regions.items()]
    runs, order = [], []
    last = 0
    at = _BLOBS_AT
    for first, blob in sorted(network.blobs.items()):
        labels = [each.number for each in instructions(blob) if isinstance(each, Label)]
        inside = [each for each in network.watched if each.when == "label" and each.number in labels]
        before = [
            (each.joined.buffer.address or 0, each.wanted)
            for each in network.watched
            if last <= each.joined.buffer.epoch < first and each not in order
        ]
        data = words_in_memory(blob, words.get(first, blob.words), network.user)
        regions.append((at, data))
        exchanges = [
            Exchange(each.number, each.joined.buffer.address or 0, len(each.wanted), each.wanted) for each in inside
        ]
        runs.append(Run(at, [*(network.inputs if last == 0 else ()), *before], exchanges))
        order += inside
        at += (len(data) + 63) // 64 * 64
        last = first
    made = [data for ran in replay(program, regions, runs) for data in ran.exchanged]
    return {each.joined.buffer.name: data for each, data in zip(order, made, strict=True)}


def changed(start: int, data: bytes, changes: Mapping[int, bytes]) -> bytes:
    """Return the content of a memory with other bytes at some addresses."""
    inside = {at: new for at, new in changes.items() if start <= at < start + len(data)}
    if not inside:
        return data
    found = bytearray(data)
    for at, new in inside.items():
        found[at - start : at - start + len(new)] = new
    return bytes(found)
