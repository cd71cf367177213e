"""NumPy's files of arrays, read without trust in the sizes in their headers."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import IO, TYPE_CHECKING, Any

from n6build.base import uses
from n6build.base.bounded import WRONG_FIELDS
from n6build.base.regular_file import open_regular

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DAMAGE = (
    *WRONG_FIELDS,
    SyntaxError,
    TokenError,
    EOFError,
    MemoryError,
    OSError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def npy_of(array: NDArray[np.generic]) -> bytes:
    """Return the .npy file of an array, without objects."""
    import numpy as np  # noqa: PLC0415 - steps are planned without it.

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def array_of(data: bytes) -> NDArray[np.generic]:
    """Return the array in a .npy file, read-only.

    Raises:
        ValueError: It is not such a file, or has objects.
    """
    try:
        return _array_of(data)
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def arrays_of(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Return the arrays in an .npz file by name.

    numpy.savez writes such files, and compresses nothing.

    Raises:
        ValueError: It is not such a file, or is compressed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as found:
            members = found.infolist()
            if sum(each.file_size for each in members) > len(data):
                raise ValueError("has compressed members")
            return {each.filename.removesuffix(".npy"): _array_of(found.read(each)) for each in members}
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _array_of(data: bytes) -> NDArray[np.generic]:
    import numpy as np  # noqa: PLC0415 - planning reads no arrays.

    file = io.BytesIO(data)
    shape, is_fortran, dtype = _header_of(file)
    size, found = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if size != found:
        raise ValueError(f"announces {size} bytes of values, but has {found}")
    flat = np.frombuffer(data, dtype, offset=file.tell()) if size else np.empty(math.prod(shape), dtype)
    return flat.reshape(shape, order="F" if is_fortran else "C")


def _header_of(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type from a .npy file, which is then at its values.

    Raises:
        ValueError: The header is unsupported.
    """
    from numpy.lib import format as npy  # noqa: PLC0415

    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(file)
    if version not in readers:
        raise ValueError(f"version {version[0]}.{version[1]} of the format is unsupported")
    shape, is_fortran, dtype = readers[version](file)
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError(f"has values of type {dtype} and shape {shape}")
    return shape, is_fortran, dtype


class MappedError(ValueError):
    """A file that `mapped` refuses; the message has the reason."""


def mapped(path: Path) -> NDArray[np.generic]:
    """Return the array in a .npy file, read-only and mapped into memory.

    Its values are read when they are used.
    The file counts as read.

    Raises:
        MappedError: It is not such a file, or has objects.
    """
    import numpy as np  # noqa: PLC0415

    try:
        with open_regular(path) as file:
            shape, is_fortran, dtype = _header_of(file)
            start = file.tell()
        size, found = math.prod(shape) * dtype.itemsize, path.stat().st_size - start
        if size != found:
            raise ValueError(f"announces {size} bytes of values, but has {found}")
        uses.note("content", path)
        if not size:
            return np.empty(shape, dtype)
        with open_regular(path) as file:
            return np.memmap(file, dtype, "r", start, shape, order="F" if is_fortran else "C")
    except _DAMAGE as error:
        raise MappedError(str(error) or type(error).__name__) from error
