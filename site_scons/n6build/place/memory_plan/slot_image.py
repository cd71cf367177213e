"""Data in a flash slot: the bytes, then a trailer.

The trailer shows if the image is erased, truncated, damaged or another network's. It follows the data
because weights that are read in place must begin at the address of their memory pool. It stays with the
data, so that new weights leave the Appli unchanged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator

from n6build.describe.formats.encryption import ENCRYPTION
from n6build.describe.formats.slot_trailer import ALIGNMENT, MAGIC, TRAILER
from n6build.place.trust.encryption import encrypted, record

TRAILER_BYTES = TRAILER.size
# Behind the trailer of weights is room for the record of their encryption.
ROOM_BEHIND = TRAILER.size + ENCRYPTION.size


def trailer_offset(data_bytes: int) -> int:
    """Return the offset of the trailer in the slot, aligned to ALIGNMENT, in bytes."""
    return -(-data_bytes // ALIGNMENT) * ALIGNMENT


def slot_image(chunks: Iterable[bytes], signature: int) -> Iterator[bytes]:
    """Yield the image in chunks.

    Args:
        chunks: Chunks of the data, which may be larger than memory.
        signature: 32 bits that the Appli expects, so that data of another network is rejected.
    """
    size = crc32 = 0
    for chunk in chunks:
        size, crc32 = size + len(chunk), zlib.crc32(chunk, crc32)
        yield chunk
    yield bytes(trailer_offset(size) - size)
    yield TRAILER.pack(magic=int.from_bytes(MAGIC, "little"), bytes=size, crc32=crc32, signature=signature)


def encrypted_image(content: Callable[[], Iterable[bytes]], signature: int, key: bytes) -> Iterator[bytes]:
    """Yield the image of encrypted weights in chunks, with their record at its end.

    Args:
        content: Function that starts reading the data, which may be larger than memory.
        signature: As for `slot_image`.
        key: Key of the data; empty for data that is not encrypted, which has a record of zeros.
    """
    if not key:
        yield from slot_image(content(), signature)
        yield bytes(ENCRYPTION.size)
        return
    of_data = record(content(), key)
    yield from slot_image(encrypted(content(), of_data, key), signature)
    yield of_data


def weights_slot_file(raw: str, network: str, networks: int) -> str:
    """Return the name of the programmed file of weights.

    With a single network, the name does not contain the network's name.

    Args:
        raw: File name of stage 1, such as network_atonbuf.xSPI2.raw.
        network: Name of the network's files.
        networks: Number of networks in the application.
    """
    pool = raw.removeprefix(f"{network}_atonbuf").removesuffix(".raw").strip(".")
    return _slot_file("weights", pool, network, networks)


def vectors_slot_file(network: str, networks: int) -> str:
    """Return the name of the programmed file of test vectors.

    Args:
        network: Name of the network's files.
        networks: Number of networks in the application.
    """
    return _slot_file("vectors", "", network, networks)


def _slot_file(kind: str, pool: str, network: str, networks: int) -> str:
    return "_".join(part for part in (network if networks > 1 else "", kind, pool) if part) + ".bin"
