"""Epochs with CONVACC over its parameter space, with their wanted memory.

The wanted memory comes from oracles.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from virtual_board.npu.assembler import Epoch, Frames, convacc, dropping, features_of, kernels_of, sums_of
from virtual_board.npu.oracles import NO_SHIFT, Convolution, convolved, deep_order, noise, requantised

OUTPUT_ENGINE = 9


def convacc_registers(
    epoch: Epoch, index: int, c: Convolution, role: dict[str, int], format_: dict[str, int], **sample: int
) -> None:
    left, right, top, bottom = c.pads
    epoch.set("CONVACC", index, "KFORMAT", WIDTH=c.kernel_width, HEIGHT=c.kernel_height, BTCDEPTH=c.batch, NR=c.kernels)
    sides = {"LPAD": left, "RPAD": right, "TPAD": top, "BPAD": bottom}
    epoch.set("CONVACC", index, "SAMPLE", HSTRD=c.x_step, VSTRD=c.y_step, **sides, **sample)
    shifts = {"INSHIFT": c.in_shift, "OUTSHIFT": c.out_shift, "ORNDMODE": 1 | c.relu << 1, "ROUND": 1, "SAT": 1}
    bytes_ = {"OBYTES": c.out_bytes, "FBYTES": 2 if c.wide else 1, "FSHIFT": NO_SHIFT, "RAW": int(c.out_bytes == 3)}
    epoch.set("CONVACC", index, "DFORMAT", **{**shifts, **bytes_, **format_})
    epoch.set("CONVACC", index, "FFORMAT", WIDTH=c.width * c.batch, HEIGHT=c.height)
    if c.crop:
        first_x, last_x, first_y, last_y = c.crop
        epoch.set("CONVACC", index, "FHCROP", LEFT=first_x * c.batch, RIGHT=(last_x + 1) * c.batch - 1)
        epoch.set("CONVACC", index, "FVCROP", TOP=first_y, BOTTOM=last_y)
    left, right, top, bottom = c.zero_frame
    epoch.set("CONVACC", index, "ZFRAME", LEFT=left * c.batch, RIGHT=right * c.batch, TOP=top, BOTTOM=bottom)
    epoch.set("CONVACC", index, "FSUB", FSUB=c.subtract)
    epoch.set("CONVACC", index, "ZFBIAS", ZFBIAS=c.fill)
    control = {"NOSUM": 1, "SIMD": c.simd, "FUNSIGNED": int(c.unsigned), "DSS2MODE": int(c.dss2)}
    epoch.switch_on("CONVACC", index, **{**control, **role})


def features_reader(epoch: Epoch, engine: int, features: np.ndarray) -> int:
    """Add a reader of features.

    Args:
        features: Array of frames x height x width x batch.
    """
    frames, size = features.shape[0], features[0].size
    lanes = (0, 1) if features.itemsize == 2 else (0,)
    address = epoch.place(features)
    return epoch.reader(engine, Frames(address, size, count=frames, step=size * features.itemsize, lanes=lanes))


def kernels_reader(epoch: Epoch, engine: int, kernels: np.ndarray) -> int:
    lanes = (0, 1) if kernels.itemsize == 2 else (0,)
    return epoch.reader(engine, Frames(epoch.place(kernels), kernels.size, lanes=lanes), CONT=1)


def convolver(
    epoch: Epoch,
    index: int,
    c: Convolution,
    features: np.ndarray,
    kernels: np.ndarray,
    role: dict[str, int] | None = None,
    **sample: int,
) -> None:
    """Set a unit, with engines 1 and 2 for its features and kernels."""
    epoch.feed(features_of(index), features_reader(epoch, 1, features))
    epoch.feed(kernels_of(index), kernels_reader(epoch, 2, kernels))
    convacc_registers(epoch, index, c, role or {}, {}, **sample)


def kernel_shape(c: Convolution) -> tuple[int, int, int, int]:
    return c.kernels, c.kernel_height, c.kernel_width, c.batch


def inflated(kernels: np.ndarray) -> np.ndarray:
    """Return kernels over all channels for a depthwise convolution.

    Args:
        kernels: Array of height x width x channels.
    """
    height, width, depth = kernels.shape
    whole = np.zeros((depth, height, width, depth), np.int8)
    for channel in range(depth):
        whole[channel, :, :, channel] = kernels[:, :, channel]
    return whole


def convolution(c: Convolution, frames: int = 1, seed: int = 0, depthwise: bool = False) -> Epoch:
    """Return an epoch in which each frame of features meets the next set of kernels."""
    epoch = Epoch()
    features = noise(seed, (frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (frames, *kernel_shape(c)), c.kernel_type)
    if depthwise:
        kernels = np.stack(
            [inflated(each) for each in noise(seed + 1, (frames, c.kernel_height, c.kernel_width, c.batch))]
        )
    convolver(epoch, 0, c, features, kernels)
    made = [requantised(convolved(f, k, c), c) for f, k in zip(features, kernels, strict=True)]
    epoch.store(OUTPUT_ENGINE, convacc(0), np.stack(made), c.out_bytes)
    return epoch


def stationary(c: Convolution, times: int, frames: int = 3, seed: int = 0, **other: int) -> Epoch:
    """Return an epoch in which each feature frame meets several sets of kernels.

    Args:
        times: Sets of kernels for each frame of features.
        other: Further fields of CTRL.
    """
    epoch = Epoch()
    features = noise(seed, (frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (frames * times, *kernel_shape(c)), c.kernel_type)
    convolver(epoch, 1, c, features, kernels, {"FSTAT": 1, **other}, FSTATCNT=times)
    made = [requantised(convolved(f, k, c), c) for f, k in zip(np.repeat(features, times, 0), kernels, strict=True)]
    epoch.store(OUTPUT_ENGINE, convacc(1), np.stack(made), c.out_bytes)
    return epoch


def unsigned_kernels(largest: int, seed: int = 0) -> Epoch:
    """Return an epoch with KUNSIGNED.

    Args:
        largest: Value of the last kernel element; above 127 nobody knows the result.
    """
    epoch = Epoch()
    c = Convolution(out_shift=6)
    features = noise(seed, (1, c.height, c.width, c.batch))
    kernels = noise(seed + 1, kernel_shape(c)) & 0x7F
    kernels[-1, -1, -1, -1] = np.int8(largest - 256 if largest > 127 else largest)
    convolver(epoch, 0, c, features, kernels, {"KUNSIGNED": 1})
    epoch.store(OUTPUT_ENGINE, convacc(0), requantised(convolved(features[0], kernels, c), c), c.out_bytes)
    return epoch


def deep_frames(epoch: Epoch, features: np.ndarray, packed: bool) -> Frames:
    """Return frames with elements of three bytes.

    Packed pixels have no gap. Otherwise each pixel begins with a new element, whose surplus bytes
    belong to the next pixel.
    """
    frames, height, width, batch = features.shape
    size = height * width * batch
    padded = np.zeros((frames, (size + 2) // 3 * 3 + 3), np.int8)
    padded[:, :size] = features.reshape(frames, -1)
    whole = Frames(epoch.place(padded), (size + 2) // 3, count=frames, step=padded.shape[1], lanes=(0, 1, 2))
    if packed:
        return whole
    return replace(
        whole, raw=False, width=width, height=height, depth=(batch + 2) // 3, pixel_step=batch, line_step=width * batch
    )


def deep(
    c: Convolution, packed: bool = False, units: int = 1, frames: int = 1, bytes_of_kernels: bool = True, seed: int = 0
) -> Epoch:
    """Return an epoch with kernels of one pixel, shared by up to four units.

    Each unit takes its own group of each frame's kernels.
    """
    c = replace(c, kernel_height=1, kernel_width=1)
    epoch = Epoch()
    features = noise(seed, (frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (frames, units, c.kernels, c.batch))
    stream = np.concatenate([deep_order(kernels[frame, each]) for frame in range(frames) for each in range(units)])
    feature_source = epoch.reader(1, deep_frames(epoch, features, packed), RAW_OUT=1)
    whole = Frames(epoch.place(stream), stream.size // 3, lanes=(0, 1, 2))
    kernel_source = epoch.reader(2, whole, CONT=1, RAW_OUT=int(bytes_of_kernels))
    for each in range(units):
        epoch.feed(features_of(each), feature_source)
        epoch.feed(kernels_of(each), kernel_source)
        share = {"TOT": units * c.kernels, "FIRST": each * c.kernels, "LAST": (each + 1) * c.kernels - 1}
        epoch.set("CONVACC", each, "KFILT", **(share if units > 1 else {"TOT": 1}))
        convacc_registers(epoch, each, c, {"DEEPMODE": 1, "KSETEN": 3}, {"FBYTES": 3 if packed else 1})
        made = [
            requantised(convolved(f, k[each][:, None, None, :], c), c) for f, k in zip(features, kernels, strict=True)
        ]
        epoch.store(OUTPUT_ENGINE - each, convacc(each), np.stack(made), c.out_bytes)
    return epoch


def shared_kernels(c: Convolution, shares: tuple[int, ...], frames: int = 2, seed: int = 0) -> Epoch:
    """Return an epoch in which several units take their kernels from one stream.

    Of each frame's kernels, the first unit takes the first of `shares`, the second unit the next,
    and so on.
    """
    epoch = Epoch()
    features = noise(seed, (frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (frames, *kernel_shape(replace(c, kernels=sum(shares)))))
    feature_source, kernel_source = features_reader(epoch, 4, features), kernels_reader(epoch, 5, kernels)
    for each, share in enumerate(shares):
        mine = replace(c, kernels=share)
        first = sum(shares[:each])
        epoch.feed(features_of(each), feature_source)
        epoch.feed(kernels_of(each), kernel_source)
        epoch.set("CONVACC", each, "KFILT", TOT=sum(shares), FIRST=first, LAST=first + share - 1)
        convacc_registers(epoch, each, mine, {}, {})
        made = [
            requantised(convolved(f, k[first : first + share], mine), mine)
            for f, k in zip(features, kernels, strict=True)
        ]
        epoch.store(each, convacc(each), np.stack(made), mine.out_bytes)
    return epoch


def chain(c: Convolution, units: int, frames: int = 1, seed: int = 0) -> Epoch:
    """Return an epoch in which sums of three bytes go from unit to unit.

    Each unit has its own channels, and the last one requantises.
    """
    epoch = Epoch()
    total: list[np.ndarray | None] = [None] * frames
    for each in range(units):
        last = each == units - 1
        mine = c if last else replace(c, out_shift=0, out_bytes=3, in_shift=0, relu=False)
        features = noise(seed + 2 * each, (frames, c.height, c.width, c.batch), c.feature_type)
        kernels = noise(seed + 2 * each + 1, (frames, *kernel_shape(c)))
        epoch.feed(features_of(each), features_reader(epoch, 2 * each, features))
        epoch.feed(kernels_of(each), kernels_reader(epoch, 2 * each + 1, kernels))
        if each:
            epoch.feed(sums_of(each), convacc(each - 1))
        convacc_registers(epoch, each, mine, {"NOSUM": int(each == 0)}, {})
        total = [
            requantised(convolved(f, k, mine), mine, before)
            for f, k, before in zip(features, kernels, total, strict=True)
        ]
    epoch.store(OUTPUT_ENGINE, convacc(units - 1), np.stack([one for one in total if one is not None]), c.out_bytes)
    return epoch


@dataclass(frozen=True)
class Accumulation:
    """The frames that are added to the frame before.

    In every `group`, these are the frames from `first` to `last`. The very first frame is never
    added to another one.

    Attributes:
        group: Frames in a group.
        groups: Number of groups.
        first: First added frame of a group.
        last: Last added frame of a group.
        filtered: The filter is on; otherwise all frames are added.
        made_first: The very first sum uses zeros that the unit makes (GEN1SUM); otherwise there is
            none (NO1SUM).
    """

    group: int
    groups: int = 2
    first: int = 1
    last: int = 255
    filtered: bool = True
    made_first: bool = False

    @property
    def frames(self) -> int:
        return self.group * self.groups

    def adds(self, frame: int) -> bool:
        return frame > 0 and (not self.filtered or self.first <= frame % self.group <= self.last)

    def configure(self, epoch: Epoch, index: int) -> dict[str, int]:
        """Set the filter, and return the fields of CTRL."""
        if self.filtered:
            epoch.set("CONVACC", index, "AFILT", TOT=self.group, FIRST=self.first, LAST=min(self.last, self.group - 1))
        first = {"GEN1SUM": 1} if self.made_first else {"NO1SUM": 1}
        return {"NOSUM": 0, "AFILTMODE": 3 if self.filtered else 0, **first}

    def made(self, c: Convolution, features: np.ndarray, kernels: np.ndarray) -> list[np.ndarray]:
        made: list[np.ndarray] = []
        for number, (one, set_) in enumerate(zip(features, kernels, strict=True)):
            made.append(requantised(convolved(one, set_, c), c, made[-1] if self.adds(number) else None))
        return made


def own_sums(c: Convolution, sums: Accumulation, seed: int = 0) -> Epoch:
    """Return an epoch in which each frame is added to the unit's previous output.

    The last frame of a group is kept.
    """
    epoch = Epoch()
    features = noise(seed, (sums.frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (sums.frames, *kernel_shape(c)))
    convolver(epoch, 2, c, features, kernels, sums.configure(epoch, 2))
    epoch.feed(sums_of(2), convacc(2))
    kept = np.stack(sums.made(c, features, kernels)[sums.group - 1 :: sums.group])
    epoch.store(0, dropping(convacc(2), sums.group - 1, 1), kept, c.out_bytes, frames=sums.groups)
    return epoch


def sums_through_memory(c: Convolution, sums: Accumulation, seed: int = 0) -> Epoch:
    """Return an epoch whose partial sums of 16 bits go through one place in memory.

    They are written to one address and read back from there. Another engine takes the last frame of
    a group.
    """
    epoch = Epoch()
    features = noise(seed, (sums.frames, c.height, c.width, c.batch), c.feature_type)
    kernels = noise(seed + 1, (sums.frames, *kernel_shape(c)))
    made = sums.made(c, features, kernels)
    size = made[0].size
    buffer = Frames(epoch.room(size * 2), size, count=sums.frames, lanes=(0, 1))
    convolver(epoch, 1, c, features, kernels, sums.configure(epoch, 1))
    epoch.feed(sums_of(1), epoch.reader(3, buffer, trigger=6, LSBMODE=1, SIGNEXT=1))
    epoch.writer(6, convacc(1), buffer)
    epoch.want(buffer.address, made[-1].astype(np.int16))
    kept = np.stack(made[sums.group - 1 :: sums.group])
    epoch.store(0, dropping(convacc(1), sums.group - 1, 1), kept, 2, frames=sums.groups)
    return epoch
