"""npu_driver --ecblob-in-params: blobs precede the weights, and addresses match.

The blobs are those of the epoch controller.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.paths import MODELS
from n6build.compile.board_pools import pools_of, relocatable
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.toolchain import Toolchain
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.loader import Firmware, Placement, install
from n6build.place.reloc.model_format import Segment, offset, segment
from n6build.place.reloc.reader import RelocFile, read_reloc_file
from n6build.place.reloc.verify import ram_of, verify
from n6build.steps.reloc_networks import ModelOptions
from shared_folder import made_once

from reloc.loaders import EXEC_RAM, EXEC_RAM_BYTES, FILE, FITS, WEIGHTS, build_loader, outcomes
from reloc.stage2 import made_with, plan_of
from reloc.test_command_lines import call

BOARD = load_board("nucleo-n657")
BLOB = struct.pack("<8Q", *(0xECBF005000000000 + number for number in range(8)))
# ST's compiler writes these: the macro in front of the array, a pointer in a table, and code that copies the
# blob.
HEADER = """
#if !defined(ECBLOB_CONST_SECTION)
#define ECBLOB_CONST_SECTION
#endif
ECBLOB_CONST_SECTION
__attribute__((aligned(64)))
static const uint64_t _ec_blob_1[8] = {WORDS};
const volatile uint64_t *volatile ec_table[] = {_ec_blob_1 + 1};
uint64_t ec_copy[1];
""".replace("WORDS", ", ".join(f"0x{word:X}ULL" for (word,) in struct.iter_unpack("<Q", BLOB)))


def with_blob(network: Path, folder: Path) -> Path:
    """Copy the network and add a blob that its initialisation uses."""
    for path in network.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / "network.c").read_text()
    function = "bool LL_ATON_EC_Network_Init_network(void)\n{\n"
    assert function in text
    use = "  ec_copy[0] = *(const volatile uint64_t *)_ec_blob_1 + *ec_table[0];\n"
    (folder / "network.c").write_text(text.replace(function, f'#include "network_ecblobs.h"\n{function}{use}'))
    (folder / "network_ecblobs.h").write_text(HEADER)
    return folder


@pytest.fixture(scope="module")
def network_with_blob(network: Path, shared: Path) -> Path:
    return made_once(shared / "blob", lambda folder: with_blob(network, folder))


@pytest.fixture(scope="module")
def model(network_with_blob: Path, shared: Path, toolchain: Toolchain) -> RelocFile:
    options = ModelOptions(blobs_in_params=True)
    folder = made_once(shared / "model", lambda folder: made_with(network_with_blob, folder, toolchain, options))
    return read_reloc_file(Path(plan_of(network_with_blob, folder, toolchain, options)[1].file))


def test_blobs_stand_in_front_of_the_weights(model: RelocFile, whole: RelocFile) -> None:
    params = model.data[model.params_offset :]
    assert params == BLOB + whole.data[whole.params_offset :]
    assert BLOB not in model.data[: model.params_offset]
    assert model.params_bytes == len(params)
    assert model.pools[0].size == len(BLOB) + whole.pools[0].size
    assert verify(model, None, ram_of(BOARD)) == []


@pytest.mark.slow
def test_without_the_option_they_are_constants(network_with_blob: Path, tmp_path: Path, toolchain: Toolchain) -> None:
    model = read_reloc_file(Path(made_with(network_with_blob, tmp_path, toolchain).file))
    assert BLOB in model.data[: model.read_only_bytes]


def test_every_address_leads_to_blobs_or_weights(model: RelocFile, whole: RelocFile) -> None:
    def in_params(each: RelocFile) -> list[int]:
        words = [each.image_word(address) for address in (*each.got, *each.relocations)]
        return sorted(offset(word) for word in words if segment(word) == Segment.PARAM_0)

    assert in_params(model) == sorted([0, 8, *(at + len(BLOB) for at in in_params(whole))])
    place = Placement(FILE, EXEC_RAM, EXEC_RAM_BYTES, params=WEIGHTS)
    assert install(model, Firmware(model.version), place).bases[Segment.PARAM_0] == WEIGHTS


@pytest.mark.parametrize("release", [None, "3.0"])
def test_loaders_take_it(release: str | None, model: RelocFile, tmp_path: Path) -> None:
    loader = build_loader(release, tmp_path)
    for outcome in outcomes(loader, [(model.data, "copy"), (model.data, "xip")], tmp_path):
        assert (outcome.status, outcome.result, outcome.strays) == (FITS, 0, 0)


@pytest.mark.slow
def test_on_the_command_line_with_the_weights_in_a_file_of_their_own(
    network_with_blob: Path, model: RelocFile, tmp_path: Path
) -> None:
    result = call("npu_driver", "-i", network_with_blob, "-o", tmp_path, "--ecblob-in-params", "--split")
    assert result.returncode == 0, result.stderr
    alone, params = read_reloc_file(tmp_path / "network_rel.bin"), (tmp_path / "network_rel_params.bin").read_bytes()
    assert params == model.data[model.params_offset :]
    assert verify(alone, params, ram_of(BOARD)) == []


@pytest.mark.slow
def test_a_network_without_weights_in_flash_has_no_place_for_them(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "network").mkdir()
    compile_network(MODELS / "keyword/keyword.tflite", relocatable(pools_of(BOARD, "noextmem")), tmp_path / "network")
    (tmp_path / "blob").mkdir()
    network = with_blob(tmp_path / "network", tmp_path / "blob")
    with pytest.raises(N6Error, match="N6-RELOC-024"):
        made_with(network, tmp_path, toolchain, ModelOptions(blobs_in_params=True))
