"""Addresses, first readers and missing files of a network's weights."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import file_size, is_file, read_at_most
from n6build.compile.artifacts.description import InitializerImage, NetworkArtifacts
from n6build.compile.artifacts.network_c import MAX_BYTES, NetworkSource, parse_network_c
from n6build.compile.artifacts.timed_epochs import epoch_numbers

# A blob is named after its first epoch: _ec_blob_1, _ec_blob_od_47, _ec_blob_1_reloc, _ec_blob_Default_1_binary.
_BLOB = re.compile(
    r"\buint64_t _ec_blob_(?:\w{0,150}_)?(\d{1,5})(?:_[a-z]{1,20})?\s{0,9}\[\d{0,9}\]\s{0,9}=\s{0,9}\{([^{};]*)\}"
)
_NUMBER = re.compile(r"\b0[xX]([0-9a-fA-F]{1,16})(?:[uUlL]{0,3})\b")
_FUNCTION = re.compile(r"\bvoid LL_ATON_Start_EpochBlock_(\d{1,5})(?:_\w{1,200})?\([^;{}()]{0,200}\)\s{0,9}\{")
_WORD = 0xFFFF_FFFF


def first_reader(source: Path, image: InitializerImage) -> str:
    """Return the first epochs that read an image.

    Args:
        source: network.c, with the header of its blobs beside it if it has any.
        image: Weights of the network.

    Returns:
        Numbers of ST's compiler, such as '7' or '1-19' for a blob; empty if no epoch names an address in the image. Blobs that
        are relocated name none.

    Raises:
        N6Error: N6-FILE-00x, N6-NETC-00x.
    """
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace")
    network = parse_network_c(text, source.name)
    starts = _addresses(network, image)
    header = source.parent / (network.ecblobs_header or f"{source.stem}_ecblobs.h")
    readers = set(_in_functions(text, image))
    if is_file(header):
        readers |= set(_in_blobs(read_at_most(header, MAX_BYTES).decode("utf-8", "replace"), starts))
    return next((epoch_numbers(each.index, each.last) for each in network.epochs if each.index in readers), "")


def check_weights(file: Path, expected: int) -> None:
    """Check a file of weights that stage 1 made.

    Args:
        file: Raw file of a memory pool.
        expected: Bytes of the initializers of the pool.

    Raises:
        N6Error: N6-FILE-002, N6-NET-021.
    """
    try:
        size = file_size(file)
    except N6Error as error:
        what = f"cannot read the initializers of a memory pool: {error.what.removeprefix('cannot read: ')}"
        hint = "copy it to network.c, where the network compiler wrote both"
        raise N6Error("N6-FILE-002", what, where=str(file), hint=hint) from error
    if size != expected:
        what = f"has {size} bytes, but the initializers of its memory pool take {expected}"
        raise N6Error("N6-NET-021", what, where=file.name, hint="compile the network again")


def require_size(artifacts: NetworkArtifacts, image: InitializerImage, size: int | None, where: Path) -> None:
    """Refuse weights that are not whole, before anything is compiled or programmed.

    Args:
        artifacts: The network.
        image: Its weights.
        size: Bytes in their file, of a hex file its content; None if there is no file.
        where: The file as the user knows it, or network.c if there is none.

    Raises:
        N6Error: N6-NET-025 for a file that is missing or empty, N6-NET-021 for one of another size.
    """
    if size == image.bytes:
        return
    needed = weights_read(artifacts, image)
    if size:
        hint = "use network.c and weights from the same run of the compiler"
        raise N6Error("N6-NET-021", f"has {size} bytes instead of the {needed}", where=str(where), hint=hint)
    hint = (
        f"put {image.file.name}, or a .bin or .hex of these bytes, beside network.c: the compiler writes it there, "
        f"but many repositories omit it"
    )
    what = "is empty" if size == 0 else f"the weights of pool {image.fname} are missing"
    raise N6Error("N6-NET-025", f"{what}: {needed}", where=str(where), hint=hint)


def weights_read(artifacts: NetworkArtifacts, image: InitializerImage) -> str:
    """Return size, address and first reader of an image, for messages."""
    place = "at their link address" if image.relative else f"at 0x{image.address:08X}"
    reader = first_reader(artifacts.source, image)
    by = f"network '{artifacts.name}' reads"
    if reader:
        by += f" first in epoch{'s' if '-' in reader else ''} {reader}"
    return f"{image.bytes} bytes {place}, which {by}"


def _addresses(network: NetworkSource, image: InitializerImage) -> set[int]:
    """Return the addresses of buffers in an image.

    Other numbers of a blob may be in its range by chance.
    """
    return {
        address
        for buffer in network.params
        if buffer.base is not None
        and image.address <= (address := buffer.base + buffer.offset_start) < image.address + image.bytes
    }


def _in_blobs(text: str, addresses: Collection[int]) -> Iterator[int]:
    """Yield the first epochs of the blobs that load one of the addresses."""
    for blob in _BLOB.finditer(text):
        numbers = (int(number, 16) for number in _NUMBER.findall(blob[2]))
        if any(number & _WORD in addresses or number >> 32 in addresses for number in numbers):
            yield int(blob[1])


def _in_functions(text: str, image: InitializerImage) -> Iterator[int]:
    """Yield the epochs whose code names an address in the image, or its relative pool."""
    symbol = f"_mem_pool_{image.fname}_"
    for function in _FUNCTION.finditer(text):
        end = text.find("\n}", function.end())
        body = text[function.end() : end if end >= 0 else len(text)]
        if image.relative:
            is_reader = symbol in body
        else:
            numbers = (int(number, 16) for number in _NUMBER.findall(body))
            is_reader = any(image.address <= number < image.address + image.bytes for number in numbers)
        if is_reader:
            yield int(function[1])
