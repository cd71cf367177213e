"""Options: defaults < settings file < environment < command line, and nothing unknown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.options.choices import choices_of
from n6build.options.settings import resolve


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
    with pytest.raises(N6Error, match="'verbose=yes' is not possible"):
        resolve({"verbose": "yes"}, {}, tmp_path)


def test_several_folders_start_where_the_command_was_typed(tmp_path: Path) -> None:
    both = os.pathsep.join(("Drivers", "/opt/cube"))
    for settings in (resolve({"cmsis": both}, {}, tmp_path), resolve({}, {"N6BUILD_CMSIS": both}, tmp_path)):
        assert choices_of(settings, tmp_path).cmsis == (str(tmp_path / "Drivers"), "/opt/cube")
    assert choices_of(resolve({}, {}, tmp_path), tmp_path).cmsis == ()
