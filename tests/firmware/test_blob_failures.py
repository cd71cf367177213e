"""Reports of the runtime about a wrong or silent NPU and about bad blobs.

Blobs are invalid or do not end. The test runs on the host, with registers that can be set to fail.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest
from firmware_build import BOARD, headers
from n6build.base.paths import FIRMWARE
from n6build.describe.formats.npu_blob import MAGIC
from n6build.describe.hardware.soc import field_bits

FAKE = Path(__file__).parent / "fake_npu"
FIELDS = BOARD.soc.npu.registers["EPOCHCTRL"]["IRQ"].fields
# The values of n6_blob_status_t.
OK, NOT_READY, OTHER_VERSION, NONE, ERROR, TOO_LONG = range(6)
EPOCH = 7


class Result(ctypes.Structure):
    _fields_ = (("status", ctypes.c_int), ("place", ctypes.c_uint32), ("value", ctypes.c_uint32))

    status: int
    place: int
    value: int


class Npu:
    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.n6_blobs_open.restype = library.fake_run.restype = Result
        library.n6_blob_text.restype = ctypes.c_char_p
        library.fake_register.restype = ctypes.POINTER(ctypes.c_uint32)

    def power_on(self, stuck: int = 0, irq: int = 1) -> None:
        self.library.fake_power_on(ctypes.c_uint32(stuck), irq)

    def open(self) -> Result:
        result: Result = self.library.n6_blobs_open()
        return result

    def run(self, first: int = MAGIC, offset: int = 0) -> Result:
        result: Result = self.library.fake_run(ctypes.c_uint32(first), offset)
        return result

    def starts(self) -> int:
        return ctypes.c_uint32.in_dll(self.library, "fake_starts").value

    def text(self, status: int) -> str:
        text: bytes = self.library.n6_blob_text(status)
        return text.decode()

    def address(self, name: str) -> int:
        return int(getattr(self.library, f"fake_{name}")()) & 0xFFFF_FFFF

    def write(self, address: int, value: int) -> None:
        self.library.fake_register(ctypes.c_uint32(address))[0] = value

    def read(self, address: int) -> int:
        return int(self.library.fake_register(ctypes.c_uint32(address))[0])


@pytest.fixture(scope="module")
def npu(tmp_path_factory: pytest.TempPathFactory) -> Npu:
    folder = tmp_path_factory.mktemp("fake_npu")
    include = headers(folder / "include")
    library = folder / "npu.so"
    # The fake registers are found before those of bring_up.
    paths = [f"-I{FAKE}", f"-I{include}", f"-I{FIRMWARE / 'runtime'}"]
    sources = [str(FIRMWARE / "runtime" / "ll_aton_npu.c"), str(FAKE / "fake_npu.c")]
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-D__ARM_ARCH_PROFILE='M'"]
    result = subprocess.run(
        ["gcc", *flags, *paths, *sources, "-o", str(library)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return Npu(ctypes.CDLL(str(library)))


def test_an_npu_as_it_should_be_runs_a_blob_to_its_end(npu: Npu) -> None:
    npu.power_on()
    assert (npu.open().status, npu.run().status, npu.starts()) == (OK, OK, 1)
    assert npu.text(OK) == ""


def test_another_version_of_any_unit_is_named_with_what_it_is(npu: Npu) -> None:
    npu.power_on()
    version = npu.address("last_version")
    npu.write(version, 0x0123_4567)
    result = npu.open()
    assert (result.status, result.place, result.value) == (OTHER_VERSION, version, 0x0123_4567)
    assert npu.text(result.status).startswith("N6-FW-061 ")


def test_bits_of_a_version_that_say_nothing_of_the_unit_may_be_anything(npu: Npu) -> None:
    npu.power_on()
    version = npu.address("last_version")
    npu.write(version, npu.read(version) & 0xFFFF)
    assert npu.open().status == OK


@pytest.mark.parametrize("unit", ["interrupt_control", "epoch_control"])
def test_a_unit_that_never_becomes_ready_is_not_waited_for_for_ever(unit: str, npu: Npu) -> None:
    control = npu.address(unit)
    npu.power_on(stuck=control)
    opened = npu.open()
    result = npu.run() if opened.status == OK else opened
    assert (result.status, result.place) == (NOT_READY, control)
    assert npu.starts() == 0
    assert npu.text(result.status).startswith("N6-FW-060 ")


@pytest.mark.parametrize(("first", "offset"), [(0, 0), (MAGIC ^ 1, 0), (MAGIC, 4)])
def test_what_is_no_blob_is_not_started(first: int, offset: int, npu: Npu) -> None:
    npu.power_on()
    assert npu.open().status == OK
    result = npu.run(first, offset)
    assert (result.status, result.value, npu.starts()) == (NONE, first, 0)
    assert npu.text(result.status).startswith("N6-FW-062 ")


def test_each_error_of_the_epoch_controller_is_told_with_the_epoch(npu: Npu) -> None:
    errors = [name for name in FIELDS if name.startswith("ERR_")]
    assert len(errors) == 7
    for name in errors:
        (low, _) = field_bits(FIELDS[name])
        bits = 1 << low
        npu.power_on(irq=bits)
        assert npu.open().status == OK
        result = npu.run()
        assert (result.status, result.place, result.value) == (ERROR, EPOCH, bits), name
    assert npu.text(ERROR).startswith("N6-FW-063 ")


def test_a_blob_that_does_not_end_is_stopped(npu: Npu) -> None:
    npu.power_on(irq=0)
    assert npu.open().status == OK
    result = npu.run()
    assert (result.status, result.place) == (TOO_LONG, EPOCH)
    assert npu.text(result.status).startswith("N6-FW-064 ")
    assert npu.read(npu.address("epoch_control")) & 1 == 0
