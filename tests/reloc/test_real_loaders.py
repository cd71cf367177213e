"""Real loaders on the virtual board: n6build's, and ST's where it is at hand.

loader.py predicts the results of ST's loader; the check in firmware/reloc rejects files that no
loader may get. Both are compared with the loaders.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.loader import Firmware, Mode, Placement, Refusal, install
from n6build.place.reloc.reader import RelocFile, parse_reloc_file
from n6build.place.reloc.verify import errors, ram_of, verify
from slow_rows import telling_rows

from reloc.loaders import (
    DAMAGED,
    EXEC_RAM,
    EXEC_RAM_BYTES,
    FAULTED,
    FILE,
    FITS,
    WEIGHTS,
    Loader,
    Outcome,
    build_loader,
    outcomes,
)
from reloc.synthetic import synthetic_model
from reloc.test_loader import ALTERED, ANOTHER_BOARD, UNSEEN, words_changed

RAM = ram_of(load_board("nucleo-n657"))
BOTH: tuple[Mode, ...] = ("copy", "xip")
ST = ("2.1", "2.2", "3.0", "4.0.0")
FUZZED = 300


@pytest.fixture(scope="module", params=[None, *telling_rows(ST, [*ST][-1].__eq__)], ids=["ours", *ST])
def loader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return build_loader(request.param, tmp_path_factory.mktemp("loader"))


@pytest.fixture(scope="module")
def model(loader: Loader, whole: RelocFile) -> RelocFile:
    """Return a model of the loader's version, a real one if possible."""
    if loader.runtime.version == whole.version:
        return whole
    return parse_reloc_file(synthetic_model(loader.runtime.version), "synthetic.bin")


def placement(mode: Mode) -> Placement:
    """Return the placement that loader_runner.c uses."""
    return Placement(FILE, EXEC_RAM, EXEC_RAM_BYTES, params=WEIGHTS, mode=mode)


def expected(model: RelocFile, loader: Loader, mode: Mode) -> int:
    """Return the result that loader.py predicts for ST's loader."""
    try:
        install(model, Firmware(loader.runtime.version), placement(mode))
    except Refusal as refusal:
        return refusal.code
    return 0


def test_altered_models_get_the_codes_of_the_loader(loader: Loader, model: RelocFile, tmp_path: Path) -> None:
    # Models before Core 2.2 do not carry the sizes of structures.
    changes = {name: change for name, (change, _) in ALTERED.items() if name != "other structs" or has_sizes(model)}
    altered = {name: change(model) for name, change in changes.items()}
    files = [(each.data, mode) for each in altered.values() for mode in BOTH]
    for (name, each), *both in zip(altered.items(), *halves(outcomes(loader, files, tmp_path)), strict=True):
        for outcome, mode in zip(both, BOTH, strict=True):
            # n6build's loader makes the check itself.
            ours = -1 if outcome.status != FITS else expected(each, loader, mode)
            assert outcome.result == (ours if loader.runtime.name == "n6build" else expected(each, loader, mode)), name
            # The check does not know a board's external RAM.
            assert outcome.status != FITS or outcome.result == -7, name


def has_sizes(model: RelocFile) -> bool:
    return "struct_sizes" in model.abi.context_fields


def test_what_no_loader_of_st_sees_the_check_before_it_does(loader: Loader, model: RelocFile, tmp_path: Path) -> None:
    altered = {name: change(model) for name, (change, _) in UNSEEN.items()}
    files = [(each.data, mode) for each in altered.values() for mode in BOTH]
    for name, *both in zip(altered, *halves(outcomes(loader, files, tmp_path)), strict=True):
        for outcome in both:
            assert outcome.status == (FITS if name in ANOTHER_BOARD else DAMAGED), name
            if loader.runtime.name == "st":
                assert outcome.result == 0, name
                assert (outcome.strays > 0) == (name == "a relocation behind the RAM"), name
            else:
                assert outcome.result == (0 if name in ANOTHER_BOARD else -1), name
                assert outcome.strays == 0


def test_a_loader_can_be_given_whatever_the_check_lets_through(
    loader: Loader, model: RelocFile, tmp_path: Path
) -> None:
    """Files that pass the check write nothing outside the model's RAM.

    Files that verify() accepts pass the check.
    """
    chooser = random.Random(6)
    datas = [model.data, *(words_changed(model, seed, chooser.choice((1, 1, 1, 2, 4))) for seed in range(FUZZED))]
    found = outcomes(loader, [(data, mode) for data in datas for mode in BOTH], tmp_path, guarded=True)
    fitting = 0
    for number, (data, *both) in enumerate(zip(datas, *halves(found), strict=True)):
        sound = is_sound(data, loader)
        for outcome in both:
            assert outcome.status != FAULTED, number
            assert outcome.status == FITS or not sound, number
            if outcome.status == FITS:
                fitting += 1
                assert outcome.strays == 0, number
                assert outcome.result != FAULTED, number
                assert outcome.result == 0 or not sound, number
    assert fitting > FUZZED // 20


def is_sound(data: bytes, loader: Loader) -> bool:
    try:
        return not errors(verify(parse_reloc_file(data, "model.bin"), None, RAM, loader.runtime.version))
    except N6Error:
        return False


def halves(of_both_modes: list[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    return of_both_modes[::2], of_both_modes[1::2]
