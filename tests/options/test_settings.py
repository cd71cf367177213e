"""Options: defaults < settings file < environment < command line.

Unknown options are errors.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.describe.choices import choices_of
from n6build.describe.invocation import Invocation
from n6build.describe.option import Setting, chosen
from n6build.describe.project_settings import resolve
from n6build.describe.until import Until, parse_until


@pytest.fixture(autouse=True)
def no_settings_of_this_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_defaults(tmp_path: Path) -> None:
    assert resolve({}, {}, tmp_path)["probe"].value == "auto"


def test_each_origin_wins_over_the_one_before(tmp_path: Path) -> None:
    user = tmp_path / "config" / "n6build" / "settings.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("probe: from-user\n")
    assert resolve({}, {}, tmp_path)["probe"].value == "from-user"
    (tmp_path / "n6build.local.yaml").write_text("probe: from-project\n")
    assert resolve({}, {}, tmp_path)["probe"].value == "from-project"
    environment = {"N6BUILD_PROBE": "from-environment"}
    assert resolve({}, environment, tmp_path)["probe"].value == "from-environment"
    setting = resolve({"probe": "virtual"}, environment, tmp_path)["probe"]
    assert (setting.value, setting.origin) == ("virtual", "command line")


def test_a_misspelled_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="unknown option 'modle'\n  hint: did you mean 'mode' or 'model'"):
        resolve({"modle": "x"}, {}, tmp_path)


def test_a_misspelled_setting_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "n6build.local.yaml").write_text("board: nucleo-n657\nprob: virtual\n")
    with pytest.raises(N6Error, match=r"n6build.local.yaml:2: prob: error N6-OPTION-001"):
        resolve({}, {}, tmp_path)


def test_a_value_that_is_not_possible_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="invalid value 'yes' for option 'verbose'"):
        resolve({"verbose": "yes"}, {}, tmp_path)


@pytest.mark.parametrize(("text", "limit"), [("", 10 << 30), ("20G", 20 << 30), ("500 M", 500 << 20), ("0", 0)])
def test_a_size_is_bytes_or_a_multiple(text: str, limit: int, tmp_path: Path) -> None:
    settings = resolve({}, {"N6BUILD_CACHE_LIMIT": text} if text else {}, tmp_path)
    assert chosen(Invocation, settings, tmp_path).cache_limit == limit


@pytest.mark.parametrize("text", ["-1", "lots", "1.5G", "10GB", "0x100", "1" * 16])
def test_what_is_no_size_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(
        N6Error, match=f"N6-OPTION-002: 'cache_limit={text}' is not a size\n  hint: write a number of bytes"
    ):
        chosen(Invocation, resolve({"cache_limit": text}, {}, tmp_path), tmp_path)


def test_several_folders_start_where_the_command_was_typed(tmp_path: Path) -> None:
    both = os.pathsep.join(("Drivers", "/opt/cube"))
    for settings in (resolve({"cmsis": both}, {}, tmp_path), resolve({}, {"N6BUILD_CMSIS": both}, tmp_path)):
        assert choices_of(settings, tmp_path).cmsis == (str(tmp_path / "Drivers"), "/opt/cube")
    assert choices_of(resolve({}, {}, tmp_path), tmp_path).cmsis == ()


@pytest.mark.parametrize(
    ("text", "until", "shown"),
    [
        ("", None, ""),
        ("text:ready: yes, 100 %", Until("text", "ready: yes, 100 %"), "text 'ready: yes, 100 %'"),
        ("symbol:fsbl:main", Until("symbol", "fsbl:main"), "symbol fsbl:main"),
        ("address:0x34000400", Until("address", "0x34000400"), "address 0x34000400"),
        ("address:872416256", Until("address", "0x34000400"), "address 0x34000400"),
        ("instructions:2_000_000", Until("instructions", "2000000"), "2,000,000 instructions"),
        ("instructions:0010", Until("instructions", "10"), "10 instructions"),
    ],
)
def test_until_names_what_ends_a_run(text: str, until: Until | None, shown: str) -> None:
    assert parse_until(Setting(text, "command line", "until")) == until
    assert until is None or str(until) == shown


@pytest.mark.parametrize(
    "text",
    [
        "main",
        "text:",
        "function:main",
        "instructions:0",
        "instructions:1__0",
        "instructions:1e9",
        "instructions:9999999999999999999",
        "address:0x134000400",
        "address:-1",
    ],
)
def test_until_refuses_what_ends_nothing(text: str) -> None:
    with pytest.raises(N6Error, match="N6-OPTION-002"):
        parse_until(Setting(text, "command line", "until"))


def test_a_model_is_part_of_somebodys_appli_only_if_it_is_asked_for(tmp_path: Path) -> None:
    for arguments, environment, models in (
        ({"appli": "a.elf"}, {}, ()),
        ({"appli": "a.elf"}, {"N6BUILD_MODEL": "keyword"}, ()),
        ({"appli": "a.elf", "model": "keyword"}, {}, ("keyword",)),
        ({"fsbl": "f.bin"}, {}, ("miniresnet",)),
    ):
        assert choices_of(resolve(arguments, environment, tmp_path), tmp_path).models == models


def test_only_one_option_chooses_the_clock(tmp_path: Path) -> None:
    assert choices_of(resolve({"mode": "max-speed"}, {}, tmp_path), tmp_path).modes == ("max-speed",)
    given = resolve({"mode": "max-speed", "clock": "hsi"}, {}, tmp_path)
    with pytest.raises(N6Error, match="N6-OPTION-002: 'mode=max-speed' and 'clock=hsi' both choose the clock"):
        choices_of(given, tmp_path)


def test_data_is_a_list_of_files_with_addresses(tmp_path: Path) -> None:
    given = resolve({"data": "w.bin@0x70180000,b.hex,c@d.bin@1880000000"}, {}, tmp_path)
    places = [(Path(each.path).name, each.address) for each in choices_of(given, tmp_path).data]
    assert places == [("w.bin", 0x70180000), ("b.hex", None), ("c@d.bin", 1880000000)]
