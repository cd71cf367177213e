"""A program is compiled with only the kernels that its network may call."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_families import FAMILIES
from n6build.compile.kernel_files import all_kernel_files, files_of_calls, files_of_kernels
from n6build.compile.reference.compile_model import kernels_of
from n6build.compile.reference.kinds import all_kernels

from network.host_network import Build


@pytest.mark.parametrize("kernel", [kernel.name for kernel in all_kernels()])
def test_a_kernel_is_in_one_file_that_names_it(kernel: str) -> None:
    homes = [path for path in files_of_kernels([kernel]) if re.search(rf"\b(n6k_)?{kernel}\b", path.read_text())]
    assert homes


def test_every_file_has_a_kernel() -> None:
    assert files_of_kernels(kernel.name for kernel in all_kernels()) == all_kernel_files()


def test_files_whose_functions_are_called_come_along() -> None:
    assert [path.name for path in files_of_kernels(["add"])] == ["add.c", "broadcast.c"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_network_calls_no_others(host_network: Build, family: str) -> None:
    network = host_network(FAMILIES[family]())
    called = re.findall(r"\bn6k_(\w+)\(&", (network.folder / "network.c").read_text())
    assert called
    assert set(called) <= set(kernels_of(network.model))


def test_a_file_in_c_tells_what_it_calls(tmp_path: Path) -> None:
    source = tmp_path / "network.c"
    source.write_text("static void block(void) { n6k_add (&of_1); other_n6k_softmax(&of_2); }\n")
    assert files_of_calls(source) == files_of_kernels(["add"])
    source.write_text("")
    assert files_of_calls(source) == ()
