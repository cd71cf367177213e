"""Test vectors: inputs of the network, and outputs of the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, remembered
from n6build.base.npy import array_of
from n6build.compile.artifacts.description import IoBuffer


@dataclass(frozen=True)
class VectorSet:
    """Test vectors in the form of the network's input buffer.

    Attributes:
        name: Name of the file.
        count: Number of rows.
        bytes_each: Bytes of a row.
        data: `count` rows of `bytes_each` bytes, little endian.
    """

    name: str
    count: int
    bytes_each: int
    data: bytes

    @property
    def shape(self) -> VectorShape:
        """Return all properties except the values."""
        return VectorShape(self.name, self.count, self.bytes_each)


@dataclass(frozen=True)
class VectorShape:
    """Shape of a `VectorSet`."""

    name: str
    count: int
    bytes_each: int


NO_VECTORS = VectorShape("none", 0, 0)


@remembered
def read_vectors(path: Path) -> VectorSet:
    """Read a .npy file with one row for each vector.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if Git LFS has not downloaded it;
            N6-VEC-001 if it is not such an array.
    """
    import numpy as np  # noqa: PLC0415 - only where vectors are read.

    content = read_bytes(path)
    try:
        array = array_of(content)
    except ValueError as error:
        raise N6Error("N6-VEC-001", f"is not a valid NumPy array: {error}", where=path.name) from error
    if array.ndim < 2 or not array.size:
        raise N6Error("N6-VEC-001", "is not an array with one row for each vector", where=path.name)
    little_endian = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = little_endian.tobytes()
    return VectorSet(path.name, len(array), len(data) // len(array), data)


def rows(vectors: VectorSet) -> list[bytes]:
    """Return the vectors, each with `bytes_each` bytes."""
    return [
        vectors.data[index * vectors.bytes_each : (index + 1) * vectors.bytes_each] for index in range(vectors.count)
    ]


def check_row_size(vectors: VectorSet, ports: Sequence[IoBuffer], what: str) -> None:
    """Check that a row has the size of all inputs or outputs of the network.

    Args:
        vectors: Vectors to check.
        ports: Inputs or outputs of the network.
        what: Name of the ports in messages, such as 'inputs'.

    Raises:
        N6Error: N6-VEC-002 if a row has another size.
    """
    size = sum(port.bytes for port in ports)
    if vectors.bytes_each != size:
        told = f"a row has {vectors.bytes_each} bytes, but the network's {what} have {size}"
        raise N6Error("N6-VEC-002", told, where=vectors.name)
