"""ReID MobileNetV2 as ST's compiler made it for the Nucleo (samples).

The functions read its blob, its buffers, and the tensors of its model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from virtual_board.npu.model import Regions

ARENA, FLASH_PADDING = 0x3400_0000, 128
INPUT, OUTPUT, BLOB = 0x342E_0000, 0x0000_0000, 0x2000_0000
LABEL, END = 29, 12


def blob_of(header: Path) -> list[int]:
    (body,) = re.findall(r"uint64_t _ec_blob_\w+ ?\[\d*\]\s*=\s*\{(.*?)\};", header.read_text(), re.DOTALL)
    words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]+)UL", body)]
    return [half for word in words for half in (word & 0xFFFF_FFFF, word >> 32)]


def instructions(blob: Sequence[int]) -> Iterator[list[int]]:
    if blob[0] == 0xECBF0050:
        blob = blob[blob[4] // 4 :]
    at, end = 2, 2 + blob[1]
    while at < end:
        word = blob[at]
        length = {0: 2, 1: 1, 2: 1 + (word >> 5 & 0x7FF), 3: 1 + (word >> 5 & 0x7FF), 4: 3, END: 1, LABEL: 1}[word & 31]
        yield list(blob[at : at + length])
        at += length


def epochs_of(blob: Sequence[int]) -> dict[int, list[list[int]]]:
    """Return the instructions of each label, including the label.

    Labels without other instructions are left out.
    """
    epochs: dict[int, list[list[int]]] = {}
    for instruction in instructions(blob):
        if instruction[0] & 31 == LABEL:
            epochs[instruction[0] >> 5] = current = []
        if instruction[0] & 31 != END:
            current.append(instruction)
    return {number: program for number, program in epochs.items() if len(program) > 1}


@dataclass(frozen=True)
class Buffer:
    """A buffer of activations of 8 bits."""

    name: str
    epoch: int
    address: int
    size: int
    batch: int
    mixed: bool
    scale: float
    zero: int  # The zero point of the signed values, also if they are stored unsigned.
    unsigned: bool

    @property
    def kind(self) -> tuple[int, str, int]:
        return self.size, f"{self.scale:.6g}", self.zero

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """Return the bytes of these signed values (height x width x channels).

        If the buffer is mixed, they are in groups of `batch` channels.
        """
        channels = values.shape[-1]
        raw = values.astype(np.int64) + (128 if self.unsigned else 0)
        if self.mixed:
            raw = np.moveaxis(raw.reshape(-1, channels // self.batch, self.batch), 1, 0)
        return raw.astype(np.uint8).ravel()

    def signed(self, stored: np.ndarray) -> np.ndarray:
        return stored.astype(np.int64) - 128 if self.unsigned else stored.view(np.int8).astype(np.int64)


def buffers_of(source: str) -> list[Buffer]:
    """Return the buffers in the order of epochs."""
    numbers = {
        name: [float(text.strip().rstrip("f")) for text in body.split(",") if text.strip()]
        for name, body in re.findall(r"static const (?:float|int16_t) (\w+)\[\]\s*=\s*\{([^}]*)\};", source)
    }
    found = []
    for body in re.findall(r"\{\n\s*\.name = .*?\n\s*\}", source, re.DOTALL):
        one: dict[str, str] = dict(re.findall(r"\.(\w+) = ([^\n]*?),?\n", body))
        if "nbits" not in one or one["is_param"] == "1" or one["nbits"] != "8" or one["scale"] not in numbers:
            continue
        (address,) = re.findall(r"\((0x[0-9a-f]+)UL\)", one["addr_base"]) or ["0"]
        unsigned, start = one["Qunsigned"] == "1", int(one["offset_start"])
        zero = round(numbers[one["offset"]][0]) - (128 if unsigned else 0)
        size, mixed = int(one["offset_end"]) - start, one["chpos"] == "CHPos_Mixed"
        place = int(one["epoch"]), int(address, 16) + start, size, int(one["batch"]), mixed
        found.append(Buffer(one["name"].strip('"'), *place, numbers[one["scale"]][0], zero, unsigned))
    return sorted(found, key=lambda buffer: buffer.epoch)


@dataclass(frozen=True)
class Tensor:
    values: np.ndarray
    scale: float
    zero: int

    @property
    def kind(self) -> tuple[int, str, int]:
        return self.values.size, f"{self.scale:.6g}", self.zero


def tensors_of(interpreter: Any) -> list[Tensor]:
    """Return signed outputs of the operators, in the order of execution."""
    details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    outputs = [int(operator["outputs"][0]) for operator in interpreter._get_ops_details()]
    return [
        Tensor(interpreter.get_tensor(index), *details[index]["quantization"])
        for index in outputs
        if details[index]["dtype"] is np.int8
    ]


def joined(buffers: Sequence[Buffer], tensors: Sequence[Tensor]) -> dict[int, tuple[Buffer, Tensor]]:
    """Return one buffer and its tensor for each epoch, without comparing contents.

    Kinds are size, scale and zero point. If a kind has as many buffers as tensors, they are paired
    in order. Otherwise a buffer is the last tensor of its kind between those of the epochs before
    and behind it. An earlier tensor never left its epoch (a convolution in front of an addition).
    """
    of_kind: dict[tuple[int, str, int], list[int]] = defaultdict(list)
    for index, tensor in enumerate(tensors):
        of_kind[tensor.kind].append(index)
    alike = Counter(buffer.kind for buffer in buffers)
    places: list[int | None] = [None] * len(buffers)
    for place, buffer in enumerate(buffers):
        before = Counter(other.kind for other in buffers[:place])[buffer.kind]
        if alike[buffer.kind] == len(of_kind[buffer.kind]):
            places[place] = of_kind[buffer.kind][before]
    sure = [-1, *places, len(tensors)]
    for place, buffer in enumerate(buffers):
        low, high = sure[place], sure[place + 2]
        if places[place] is None and low is not None and high is not None:
            places[place] = max((index for index in of_kind[buffer.kind] if low < index < high), default=None)
    return {
        buffer.epoch: (buffer, tensors[index])
        for buffer, index in zip(buffers, places, strict=True)
        if index is not None
    }


def regions_of(folder: Path) -> Regions:
    (base,) = re.findall(r"postfix=xSPI2 name=octoFlash offset=(0x[0-9a-f]+)", (folder / "reid.c").read_text())
    weights = np.frombuffer((folder / "reid_atonbuf.xSPI2.bin").read_bytes(), np.uint8)
    return Regions(
        {
            ARENA: np.zeros(0x3C_0000, np.uint8),
            int(base, 16): np.concatenate([weights, np.zeros(FLASH_PADDING, np.uint8)]),
            OUTPUT: np.zeros(0x1_0000, np.uint8),
            BLOB: np.zeros(0x10_0000, np.uint8),
        }
    )
