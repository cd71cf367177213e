"""Streaming engines, which move frames between memory and the NPU."""

from __future__ import annotations

from dataclasses import dataclass, replace

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Limit, Setting, Unit
from n6build.compile.neural_art.registers import packed, register
from n6build.compile.reference.epochs import Address


@dataclass(frozen=True)
class Image:
    """Elements of a frame.

    Each line and pixel has `depth` consecutive elements.

    Attributes:
        width: Pixels of a line.
        height: Number of lines.
        depth: Elements of a pixel.
        pixel: Bytes from one pixel to the next.
        line: Bytes from one line to the next.
    """

    width: int
    height: int
    depth: int
    pixel: int
    line: int


@dataclass(frozen=True)
class Frames:
    """Frames in memory.

    Attributes:
        address: Address of the first frame.
        elements: Elements of a frame that is one row, or an image.
        size: Bytes of an element.
        count: Number of frames.
        step: Bytes from one frame to the next. None: rows are consecutive, images are all the same.
        repeat: Number of frames after which they begin again, 0 for never.
        repeat_step: Bytes by which they begin further on.
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
        """Return the bytes from one frame to the next."""
        if self.step is not None:
            return self.step
        return self.elements * self.size if isinstance(self.elements, int) else 0

    @property
    def moved(self) -> int:
        """Return the bytes of all frames."""
        each = self.elements
        elements = each if isinstance(each, int) else each.width * each.height * each.depth
        return elements * self.size * self.count

    @property
    def end(self) -> Address:
        """Return the address behind the last byte."""
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
    """Add an engine that reads frames, and return it.

    Args:
        epoch: Epoch that gets the engine.
        frames: Frames in memory.
        constant: Whether they are an initializer.
        bytewise: Whether an element has three bytes, which the receiver takes one by one.
        goes_on: Whether the address never starts again.
        signed: Whether elements of a byte are extended by their sign.
    """
    (epoch.initializers if constant else epoch.reads).append(frames.address.name)
    fields = {"RAW_OUT": int(bytewise), "CONT": int(goes_on), "LSBMODE": int(signed), "SIGNEXT": int(signed)}
    return _engine(epoch, frames, writes=False, **fields)


def write(epoch: EpochBuilder, frames: Frames, source: Unit) -> Unit:
    """Add an engine that writes the stream of `source`, and return it."""
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
    # POS, EVENT and the order of the limits are as in every blob of ST's compiler.
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
