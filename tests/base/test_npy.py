"""Arrays in files: as NumPy writes them, with headers that may be wrong."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from n6build.base.npy import array_of, arrays_of

ARRAYS = arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, min_side=0, max_dims=3))


def written(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


@given(ARRAYS, st.booleans())
def test_what_numpy_writes_is_read(array: np.ndarray, by_columns: bool) -> None:
    found = array_of(written(np.asarray(array, order="F" if by_columns else "C")))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


def with_header(text: bytes) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(12)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x07\0",
        written([1, 2, 3])[:-1],
        written([1, 2, 3]) + b"\0",
        with_header(b"{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999999999, 4), }\n"),
        with_header(b"{'descr': '|i1', 'fortran_order': False, 'shape': (-3, -4), }\n"),
        with_header(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"),
        with_header(b"{'descr': '|i1', ''\n"),
        with_header(b"(" * 3000),
    ],
)
def test_what_is_no_array_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        array_of(data)


def test_several_arrays_in_one_file() -> None:
    file = io.BytesIO()
    np.savez(file, a=np.arange(3), b=np.zeros((2, 2)))
    found = arrays_of(file.getvalue())
    assert {name: array.tolist() for name, array in found.items()} == {"a": [0, 1, 2], "b": [[0, 0], [0, 0]]}


def test_a_file_that_grows_when_it_is_unpacked_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 20))
    with pytest.raises(ValueError, match="compressed"):
        arrays_of(file.getvalue())
