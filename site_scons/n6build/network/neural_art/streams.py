"""Streaming engines: frames of memory as streams into the NPU, and streams into memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from n6build.network.neural_art.hardware_epoch import EpochBuilder, Limit, Setting, Unit
from n6build.network.neural_art.registers import packed, register
from n6build.network.reference.epochs import Address


@dataclass(frozen=True)
class Image:
    """Elements of a frame: for each line and pixel, `depth` that follow each other. pixel, line: steps in bytes."""

    width: int
    height: int
    depth: int
    pixel: int
    line: int


@dataclass(frozen=True)
class Frames:
    """Where they lie. elements: of a frame that is one row, or of an image. size: bytes of an element.

    count: of frames. step: from one to the next, in bytes, None: rows follow each other, images are all the same; after `repeat`
    frames, if that is not 0, they begin again `repeat_step` bytes further on.
    """

    address: Address
    elements: int | Image
    size: int = 1
    count: int = 1
    step: int | None = None
    repeat: int = 0
    repeat_step: int = 0

    @property
    def apart(self) -> int:
        """Bytes from one frame to the next."""
        if self.step is not None:
            return self.step
        return self.elements * self.size if isinstance(self.elements, int) else 0

    @property
    def moved(self) -> int:
        """Bytes of all frames."""
        each = self.elements
        elements = each if isinstance(each, int) else each.width * each.height * each.depth
        return elements * self.size * self.count

    @property
    def end(self) -> Address:
        """Behind the last byte."""
        each = self.elements
        if isinstance(each, int):
            span = each * self.size
        else:
            span = (each.height - 1) * each.line + (each.width - 1) * each.pixel + each.depth * self.size
        loop = self.repeat or self.count
        start = (min(loop, self.count) - 1) * self.apart + (self.count - 1) // loop * self.repeat_step
        return replace(self.address, offset=self.address.offset + start + span)


def read(
    epoch: EpochBuilder,
    frames: Frames,
    *,
    constant: bool = False,
    bytewise: bool = False,
    goes_on: bool = False,
    signed: bool = False,
) -> Unit:
    """constant: an initializer. bytewise: three bytes an element, which the receiver takes one by one. goes_on: the address never
    starts again. signed: elements of a byte, extended."""
    (epoch.initializers if constant else epoch.reads).append(frames.address.name)
    fields = {"RAW_OUT": int(bytewise), "CONT": int(goes_on), "LSBMODE": int(signed), "SIGNEXT": int(signed)}
    return _engine(epoch, frames, writes=False, **fields)


def write(epoch: EpochBuilder, frames: Frames, source: Unit) -> Unit:
    """source: of the stream."""
    epoch.writes.append(frames.address.name)
    engine = _engine(epoch, frames, writes=True)
    epoch.link(source, engine)
    return engine


def _engine(epoch: EpochBuilder, frames: Frames, *, writes: bool, **control: int) -> Unit:
    npu, image = epoch.npu, frames.elements
    epoch.moved += frames.moved

    def at(name: str) -> int:
        return register(npu, "STRENG", name)

    def field(name: str, **fields: int) -> int:
        return packed(npu, "STRENG", name, **fields)

    lanes = {f"SIZE{lane}": 8 for lane in range(frames.size)}
    is_row = isinstance(image, int)
    word = field("CTRL", DIR=int(writes), RAW=int(is_row), SINGLE=int(frames.count == 1), **lanes, **control)
    if isinstance(image, int):
        shape = [Setting(at("ADDR"), (frames.address, image))]
    else:
        lines = (
            field("FSIZE", WIDTH=image.width, HEIGHT=image.height),
            field("DEPTH", SIZE=image.depth, OFFSET=image.pixel),
            field("STRD", LOFF=image.line),
        )
        shape = [Setting(at("ADDR"), (frames.address, *lines))]
    # POS, EVENT and the order of the limits as in every blob of ST's compiler.
    position = field("POS", POS1=1, POS2=2)
    limited = field("LIMITEN", STOPPREFTC=1, FRAMELIMIT=1)
    settings = (
        *shape,
        Setting(
            at("FOFFSET"),
            (frames.apart, frames.repeat, frames.repeat_step, position, field("EVENT", EN_ILLCFG=1)),
        ),
        Setting(at("LIMITEN"), (limited, limited | field("LIMITEN", ADDRLIMIT=1)), repeated=True),
        Setting(at("LIMIT"), (frames.count, Limit(frames.end))),
        Setting(at("ENCR_MSB"), (0, 0)),
    )
    return epoch.add(Unit("STRENG", epoch.next_index("STRENG"), word, settings, writes))
