"""Provenance, bill of materials and notices of a build.

They are complete, equal for equal builds, and contain nothing about the computer.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.compile.toolchain import find_toolchain
from n6build.describe.choices import Choices, choices_of
from n6build.describe.given_options import given_options, options_in_flash
from n6build.describe.project_settings import resolve
from n6build.engine.step import Step
from n6build.steps.origin_files import provenance_step
from n6build.tell.linked import VENDORED, linked_archives
from n6build.tell.notices import Texts, notice_of, notices_text
from n6build.tell.provenance import (
    Material,
    Provenance,
    different,
    portable_name,
    provenance_json,
    read_provenance,
)
from n6build.tell.sbom import sbom_json

from tools.verify_provenance import check_equal, check_images, main

ONE, TWO = "1" * 64, "2" * 64
MATERIALS = (
    Material("models/m.tflite", ONE, "source"),
    Material("firmware/n6.h", TWO, "header"),
    Material("arm-none-eabi-gcc", ONE, "tool"),
)
BEARSSL = Material("<n6build>/firmware/third_party/bearssl/src/int/i31_add.c", TWO, "source")
VERSIONS = {"newlib": "3.3.0", "libgcc": "12.2.1"}
PROVENANCE = Provenance({"appli_image.bin": ONE}, {"board": "b"}, {"runtime": "n6build 1"}, MATERIALS, "0.5")
VERIFYING = replace(PROVENANCE, materials=(*MATERIALS, BEARSSL))
MAP = """
 .text.memcpy   0x34000100       0x1c /usr/lib/arm/hard/libc_nano.a(lib_a-memcpy.o)
 .text.strcmp   0x00000000      0x1bc /usr/lib/arm/hard/libc_nano.a(lib_a-strcmp.o)
 .text          0x34000200       0x20 /usr/lib/gcc/libgcc.a(_udivmoddi4.o)
 .text          0x34000300       0x20 /opt/st/NetworkRuntime_CM55_GCC.a(pad.o)
 .text.main     0x34000400       0x20 build/appli/main.o
"""


def archives(folder: Path) -> tuple[object, ...]:
    (folder / "appli.map").write_text(MAP)
    return linked_archives([folder / "appli.map"])


def test_a_statement_is_of_the_standards_form_and_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "provenance.json"
    path.write_text(provenance_json(PROVENANCE))
    document = json.loads(path.read_text())
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://slsa.dev/provenance/v1"
    assert document["subject"] == [{"name": "appli_image.bin", "digest": {"sha256": ONE}}]
    assert set(document["predicate"]["buildDefinition"]) == {
        *("buildType", "externalParameters", "internalParameters", "resolvedDependencies")
    }
    found = read_provenance(path)
    assert (found.subjects, found.options, found.facts) == (
        PROVENANCE.subjects,
        {"board": "b"},
        {"runtime": "n6build 1"},
    )
    assert set(found.materials) == set(MATERIALS)


@given(
    st.text(max_size=40)
    | st.sampled_from(["{}", "[]", "null", "[" * 100_000])
    | st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ).map(lambda value: json.dumps(json.loads(provenance_json(PROVENANCE)) | {"subject": value, "predicate": value}))
)
def test_what_is_no_statement_is_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "no_provenance.json"
    path.write_text(text, errors="surrogatepass")
    with pytest.raises(N6Error, match="N6-ORIGIN-001"):
        read_provenance(path)


def test_the_order_of_materials_does_not_count() -> None:
    texts = {
        provenance_json(Provenance(PROVENANCE.subjects, {}, {}, tuple(order), "0.5"))
        for order in itertools.permutations((*MATERIALS, MATERIALS[0]))
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/main.c", "src/main.c"),
        (str(FIRMWARE / "appli/main.c"), "<n6build>/firmware/appli/main.c"),
        ("/home/jane/st/Npu/ll_aton/ll_aton.c", "<outside>/Npu/ll_aton/ll_aton.c"),
        ("/home/jane/st/key.pem", "<outside>/st/key.pem"),
        ("/home/jane/key.pem", "<outside>/key.pem"),
        ("/a.c", "<outside>/a.c"),
    ],
)
def test_names_say_nothing_about_the_computer(
    path: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert portable_name(path) == name
    monkeypatch.chdir(FIRMWARE)
    assert portable_name("appli/main.c") == "<n6build>/firmware/appli/main.c"


def test_differences_are_named() -> None:
    after = (Material("models/m.tflite", TWO, "source"), MATERIALS[1], Material("new.h", ONE, "header"))
    assert different(MATERIALS, after) == [
        "header new.h is new",
        f"source models/m.tflite has SHA-256 {TWO[:12]}, was {ONE[:12]}",
        "tool arm-none-eabi-gcc is not there",
    ]
    assert different(MATERIALS, MATERIALS[::-1]) == []


def test_only_what_takes_memory_counts_as_linked(tmp_path: Path) -> None:
    assert [(each.archive, each.members, each.library.name) for each in archives(tmp_path)] == [  # type: ignore[attr-defined]
        ("NetworkRuntime_CM55_GCC.a", ("pad.o",), ""),
        ("libc_nano.a", ("lib_a-memcpy.o",), "newlib"),
        ("libgcc.a", ("_udivmoddi4.o",), "libgcc"),
    ]


def test_a_bill_has_every_file_tool_model_and_library_and_no_date(tmp_path: Path) -> None:
    text = sbom_json("app", VERIFYING, ("st", "1.1.1-14"), archives(tmp_path), VERSIONS)  # type: ignore[arg-type]
    assert text == sbom_json("app", VERIFYING, ("st", "1.1.1-14"), archives(tmp_path), VERSIONS)  # type: ignore[arg-type]
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"], "timestamp" in text) == ("CycloneDX", "1.6", False)
    kinds = {each["name"]: each["type"] for each in bill["components"]}
    assert kinds == {
        "appli_image.bin": "firmware",
        "models/m.tflite": "machine-learning-model",
        "firmware/n6.h": "file",
        "<n6build>/firmware/third_party/bearssl/src/int/i31_add.c": "file",
        "BearSSL": "library",
        "n6build firmware": "library",
        "ll_aton (ST)": "library",
        "NetworkRuntime_CM55_GCC.a": "library",
        "newlib": "library",
        "libgcc": "library",
    }
    assert [each["name"] for each in bill["metadata"]["tools"]["components"]] == ["arm-none-eabi-gcc"]
    assert "GPL-3.0-or-later WITH GCC-exception-3.1" in text
    known = {each["name"]: (each.get("version"), each.get("purl"), each.get("cpe")) for each in bill["components"]}
    assert known["BearSSL"] == ("0.6", "pkg:generic/bearssl@0.6", "cpe:2.3:a:bearssl:bearssl:0.6:*:*:*:*:*:*:*")
    assert known["newlib"] == (
        "3.3.0",
        "pkg:generic/newlib@3.3.0",
        "cpe:2.3:a:newlib_project:newlib:3.3.0:*:*:*:*:*:*:*",
    )
    assert known["libgcc"] == ("12.2.1", "pkg:generic/gcc@12.2.1", "cpe:2.3:a:gnu:gcc:12.2.1:*:*:*:*:*:*:*")
    assert {each["name"]: each["licenses"] for each in bill["components"] if "licenses" in each}["BearSSL"] == [
        {"license": {"id": "MIT"}}
    ]
    other = Provenance({"appli_image.bin": TWO}, {}, {}, MATERIALS, "0.5")
    again = json.loads(sbom_json("app", other, ("st", "1.1.1-14"), archives(tmp_path), VERSIONS))  # type: ignore[arg-type]
    assert again["serialNumber"] != bill["serialNumber"]


def test_the_notice_of_a_source_is_the_comment_that_speaks_of_rights() -> None:
    source = "/* what it does */\n/*\n * Copyright (c) 2024 Somebody.\n */\n#include <a.h>\n// SPDX-License-Identifier: MIT\n"
    assert notice_of(source) == "/*\n * Copyright (c) 2024 Somebody.\n */\n// SPDX-License-Identifier: MIT"
    assert notice_of("int x; /* no rights */") == ""


def test_notices_are_grouped_and_complete(tmp_path: Path) -> None:
    head = "/* Copyright Somebody */\n"
    texts = Texts("OURS", {"b.c": head, "a.c": head, "c.c": "int x;"}, {"<outside>/st/LICENSE": "THEIRS"}, ["x.elf"])
    text = notices_text("app", texts, archives(tmp_path))  # type: ignore[arg-type]
    for part in (
        "OURS",
        "a.c\nb.c\n",
        "/* Copyright Somebody */",
        "THEIRS",
        "x.elf",
        "newlib: libc_nano.a (lib_a-memcpy.o)",
    ):
        assert text.count(part) == 1, part
    assert "c.c\n====" in text.replace("=" * 74, "")
    assert "These files have no notice of their own." in text


def test_options_that_decide_the_bytes_are_recorded_as_they_are_given(tmp_path: Path) -> None:
    given = {
        "board": "dk",
        "model": "keyword,anomaly",
        "profile": "noextmem",
        "mode": "max-speed,no-run",
        "probe": "virtual",
    }
    given |= {"split": "1", "loader": "reloc", "data": f"{tmp_path}/a.bin@0x70180000", "runs": "7", "dry": "1"}
    given |= {"cmsis": f"{tmp_path}/device{os.pathsep}{tmp_path}/cmsis"}
    choices = choices_of(resolve(given, {}, tmp_path), tmp_path)
    recorded = options_in_flash(choices)
    assert recorded == {
        **{name: given[name] for name in ("board", "model", "profile", "split", "loader", "data", "cmsis")},
        "mode": "max-speed",
    }
    again = options_in_flash(choices_of(resolve(recorded, {}, tmp_path), tmp_path))
    assert again == recorded
    # A rebuild on a desk also names the board there.
    assert {*given_options(choices)} == {"probe=virtual", *(f"{name}={text}" for name, text in recorded.items())}
    assert options_in_flash(Choices()) == {"board": "nucleo-n657", "model": "miniresnet"}


# The tool.


def test_an_image_that_is_not_that_of_the_provenance_is_named(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-ORIGIN-002: appli_image.bin is not there"):
        check_images(PROVENANCE, tmp_path)
    (tmp_path / "appli_image.bin").write_bytes(b"another")
    with pytest.raises(N6Error, match="appli_image.bin has SHA-256 [0-9a-f]{12}, but its provenance has 111111111111"):
        check_images(PROVENANCE, tmp_path)


def test_another_image_and_the_same_image_of_other_materials_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    check_equal(PROVENANCE, PROVENANCE)
    other = Provenance({"appli_image.bin": TWO}, PROVENANCE.options, PROVENANCE.facts, MATERIALS[1:], "0.5")
    with pytest.raises(
        N6Error, match="N6-ORIGIN-004: 1 of 1 files differ from a build on this computer, 1 material differs"
    ):
        check_equal(PROVENANCE, other)
    assert "Material source models/m.tflite is not there" in capsys.readouterr().out
    same = Provenance(PROVENANCE.subjects, PROVENANCE.options, PROVENANCE.facts, MATERIALS[1:], "0.5")
    with pytest.raises(N6Error, match="N6-ORIGIN-004: the images are the same, but their materials differ"):
        check_equal(PROVENANCE, same)


@pytest.mark.parametrize(
    ("options", "facts", "message"),
    [
        ({"cmsis": "<outside>/a/Cube"}, {}, "option cmsis was a path outside of the project"),
        ({}, {"program": "blinky"}, "from another project, with its own program"),
    ],
)
def test_what_cannot_be_built_again_here_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, str], facts: dict[str, str], message: str
) -> None:
    path = tmp_path / "provenance.json"
    path.write_text(provenance_json(Provenance({}, options, facts, MATERIALS, "0.5")))
    assert main([str(path)]) == 1
    found = capsys.readouterr().err
    assert "N6-ORIGIN-003" in found
    assert message in found
    # The comparison with a second build of that project is possible.
    assert main([str(path), "--rebuilt", str(path)]) == 0


def test_a_private_key_is_no_material(tmp_path: Path) -> None:
    def made(name: str, *sources: str) -> Step:
        return Step("Make", "image", (name,), sources, function="n6build.steps.boot_image:make_signed_image")

    behind = made("image.bin", "app.elf", "keys/publicKey00.pem", "keys/privateKey00.pem"), made("m.json", "image.bin")
    step = provenance_step("p.json", behind[1], ("image.bin",), (), behind, ("boards/b.yaml",), {}, {})
    assert step.sources == ("m.json", "image.bin", "app.elf", "boards/b.yaml", "keys/publicKey00.pem")


def test_every_vendored_library_is_listed_with_its_release() -> None:
    folders = {f"firmware/third_party/{path.name}/" for path in (FIRMWARE / "third_party").iterdir()}
    assert {each.folder for each in VENDORED} == folders
    for each in VENDORED:
        assert f"({each.version}+" in (FIRMWARE.parent / each.folder / "README.md").read_text()


def test_the_versions_of_the_compilers_libraries_are_known() -> None:
    libraries = find_toolchain(read_environment(), None).libraries
    assert set(libraries) == {"newlib", "libgcc"}
    assert all(re.fullmatch(r"\d+(\.\d+)*", each) for each in libraries.values())
