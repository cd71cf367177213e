"""A readable trace of the NPU, from the emulator's raw lines.

The lines become registers, fields and instructions with names. The trace has neither times nor
reads, so that two runs of one program give the same text, and diff shows how two programs differ.
The raw lines are described in tools/virtual_board/n6virt_trace.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from n6build.base.console import printable
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.judge.npu.blobs import MOST_WORDS, Blob, blob_of_words
from n6build.judge.npu.disassemble import Label, instruction_lines, instructions, write_line
from n6build.judge.npu.names import UNIT_BYTES, Names

_WRITE = re.compile(r"w 0x([0-9a-f]{1,8}) 0x([0-9a-f]{1,8})")
_EPOCH = re.compile(r"epoch (\d{1,9}) (\d{1,9})")
_RUN = re.compile(r"run (\d{1,9})")
_BLOB = re.compile(r"blob (0x[0-9a-f]{1,8})")
_WORDS = re.compile(r"0x[0-9a-f]{1,8}(?: 0x[0-9a-f]{1,8}){0,7}")


@dataclass(frozen=True)
class TracedNetwork:
    """A network with the name of its model."""

    name: str
    artifacts: NetworkArtifacts

    @property
    def operators(self) -> Mapping[int, str]:
        """Return the operators by ST's number of the epoch."""
        return {epoch.index: printable(epoch.kind) for epoch in self.artifacts.epochs if epoch.kind}


def trace_lines(raw: Iterable[str], names: Names, networks: Sequence[TracedNetwork]) -> Iterator[str]:
    """Yield the lines of a readable trace.

    Args:
        raw: Lines of the emulator.
        names: Names of units and registers.
        networks: Networks in the order of the application; none if they are unknown.

    Raises:
        N6Error: N6-NPU-005 for a line that is not of such a trace.
    """
    reader = _Reader(names, networks)
    for number, line in enumerate(raw, 1):
        yield from reader.lines(line.rstrip("\n"), number)
    yield from reader.finish_blob()


class _Reader:
    """The state after the lines so far; `_operators` belong to the running network."""

    def __init__(self, names: Names, networks: Sequence[TracedNetwork]) -> None:
        self._names = names
        self._networks = networks
        self._operators: Mapping[int, str] = {}
        self._block = ""
        self._address = ""
        self._words: list[int] = []
        # A network runs the same blob in each inference, so shown blobs are kept by their words.
        self._shown: dict[tuple[int, ...], str] = {}

    def lines(self, line: str, number: int) -> Iterator[str]:
        if _WORDS.fullmatch(line) and self._address:
            self._words += (int(word, 16) for word in line.split())
            if len(self._words) > MOST_WORDS:
                raise _error(number, f"a blob has more than {MOST_WORDS} words")
            return
        yield from self.finish_blob()
        if match := _WRITE.fullmatch(line):
            unit, offset = divmod(int(match[1], 16), UNIT_BYTES)
            yield write_line(self._names, unit, offset, int(match[2], 16))
        elif match := _EPOCH.fullmatch(line):
            yield self._begin(int(match[1]), int(match[2]))
        elif match := _RUN.fullmatch(line):
            label = int(match[1])
            yield f"computed {self._noted(f'epoch {label}', label) if label else self._block or 'an epoch'}"
        elif match := _BLOB.fullmatch(line):
            self._address = match[1]
        else:
            raise _error(number, f"'{printable(line[:40])}' is not a valid line of a trace")

    def _begin(self, network: int, place: int) -> str:
        """Return the line that begins a block of epochs."""
        if network >= len(self._networks):
            self._operators, self._block = {}, f"block {place} of network {network}"
            return f"begin {self._block}"
        traced = self._networks[network]
        self._operators = traced.operators
        blocks = traced.artifacts.blocks
        self._block = f"block {place}"
        if place < len(blocks):
            block = blocks[place]
            several = f"epochs {block.first} to {block.last}"
            self._block = several if block.last != block.first else self._noted(f"epoch {block.first}", block.first)
        return f"begin {printable(traced.name)}, {self._block}"

    def _noted(self, what: str, epoch: int) -> str:
        """Return a text with the operators of the epoch, if they are known."""
        return f"{what}  {self._operators.get(epoch, '')}".rstrip()

    def finish_blob(self) -> Iterator[str]:
        """Yield the blob whose words are complete."""
        address, words = self._address, tuple(self._words)
        self._address, self._words = "", []
        if not address:
            return
        if words in self._shown:
            yield f"blob at {address}, the same as {self._shown[words]}"
            return
        self._shown[words] = address
        yield f"blob at {address}"
        try:
            yield from self._disassembled(blob_of_words(words, f"blob at {address}"))
        except N6Error as error:
            # A damaged blob may be the fault that the user looks for; it is shown up to the damage.
            yield f"{error.where}: {error.what}"

    def _disassembled(self, blob: Blob) -> Iterator[str]:
        for instruction in instructions(blob):
            for line in instruction_lines(instruction, self._names):
                yield self._noted(line, instruction.number) if isinstance(instruction, Label) else line


def _error(number: int, what: str) -> N6Error:
    hint = "run the network again with trace=npu: the virtual board then writes this file"
    return N6Error("N6-NPU-005", what, where=f"trace of the NPU, line {number}", hint=hint)
