"""Test vectors: inputs of the network, and outputs of the reference interpreter.

Seeded random inputs of a network without test vectors. They are the same on each machine: the bytes
come from SHAKE-256, whose output is defined to the bit. Releases of NumPy may change its generators
of random numbers. The seed is a text: `n6build input`, the number of the vector, the place of the
input, its type and its shape.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEEDED = "seeded random inputs, the same on every machine"
# A second vector reveals outputs that do not depend on the input, but takes as long as the first.
_VECTORS = 2
_MOST_BYTES_OF_SEVERAL = 1 << 16


def seeded_shape(inputs: Sequence[IoBuffer]) -> VectorShape:
    """Return the number and the size of a network's seeded vectors.

    Args:
        inputs: Inputs of the network.
    """
    size = sum(each.bytes for each in inputs)
    return VectorShape(SEEDED, _VECTORS if size <= _MOST_BYTES_OF_SEVERAL else 1, size)


def seeded_array(inputs: Sequence[IoBuffer]) -> NDArray[np.generic]:
    """Return the seeded vectors in the form of a .npy file.

    Args:
        inputs: Inputs of the network.

    Returns:
        A row for each vector: in the type and shape of the only input, or as bytes, one input after
        another.
    """
    import numpy as np  # noqa: PLC0415 - planning makes no vectors.

    count = seeded_shape(inputs).count
    vectors = [[_values(each, place, number) for place, each in enumerate(inputs)] for number in range(count)]
    if len(inputs) == 1:
        return np.stack([vector[0] for vector in vectors])
    return np.stack([np.frombuffer(b"".join(each.tobytes() for each in vector), np.uint8) for vector in vectors])


def _values(port: IoBuffer, place: int, number: int) -> NDArray[np.generic]:
    """Return the little-endian values of one input, in its shape."""
    import numpy as np  # noqa: PLC0415

    text = f"n6build input {number} {place} {port.type} {','.join(map(str, port.shape))}"
    data = hashlib.shake_256(text.encode()).digest(port.bytes)
    if port.type == "float32":
        # The values are from -1 to 1, without 1. They have 24 bits, which are exact in a float32.
        values = ((np.frombuffer(data, "<u4") >> 8) / (1 << 23) - 1).astype("<f4")
    elif port.type == "bool":
        values = np.frombuffer(data, np.uint8) & 1 == 1
    elif port.type in ("int32", "int64"):
        # Inputs of these types are mostly indices and masks, for which only 0 and 1 are always in range.
        values = np.frombuffer(data, np.dtype(port.type).newbyteorder("<")) & 1
    else:
        values = np.frombuffer(data, np.dtype(port.type).newbyteorder("<"))
    return values.reshape(port.shape)
