"""Makefiles, CMake scripts and STM32CubeIDE projects are read as text.

Their content may be anything.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.adopt.build_scripts import expand, scripts_in
from n6build.adopt.cube_ide import configurations_in, parse_xml, sources_in
from n6build.adopt.script_programs import logical_lines, parse_cmake, parse_makefile
from n6build.base.errors import N6Error

NAMES = st.text("ABCxyz_09", min_size=1, max_size=8).filter(lambda name: not name[0].isdigit())
WORDS = st.text("abcXYZ09._/-", min_size=1, max_size=12).filter(lambda word: not word.endswith("\\"))
ANYTHING = st.text(max_size=400)


@given(
    st.dictionaries(NAMES, st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from(["=", ":=", "::="]),
)
def test_what_a_makefile_assigns_is_read_back(variables: dict[str, list[str]], how: str) -> None:
    # The first value is in the assignment, which has two lines; the others are added.
    text = "".join(f"{name} {how} {words[0]} \\\n  \n" for name, words in variables.items())
    text += "".join(f"{name} += {' '.join(words[1:])}  # comment\n" for name, words in variables.items() if words[1:])
    found: dict[str, str] = {}
    parse_makefile(text, found)
    assert {name: value.split() for name, value in found.items()} == variables


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A = 1\nA ?= 2\nB ?= 3\n", {"A": "1", "B": "3"}),
        ("export A := 1\noverride B = 2\n", {"A": "1", "B": "2"}),
        ("A = 1\nA := $(A) 2\n", {"A": "1 2"}),
        ("ifdef X\nA = 1\nelse\nA = 2\nendif\n", {"A": "2"}),
        ("a.elf: b.o\n\tA=1 $(CC)\n", {}),
        ("define A\nB = 1\nendef\nC = 2\n", {"C": "2"}),
    ],
)
def test_forms_of_assignments(text: str, values: dict[str, str]) -> None:
    found: dict[str, str] = {}
    parse_makefile(text, found)
    assert found == values


@given(WORDS, WORDS)
def test_programs_of_rules(folder: str, name: str) -> None:
    text = f"$(BUILD)/{name}.elf {folder}/b.elf: main.o\n\t$(CC)\n%.elf: %.o\nx.elf := 1\n# c.elf: d\n"
    parsed = parse_makefile(text, {})
    assert set(parsed.programs) == {f"$(BUILD)/{name}.elf", f"{folder}/b.elf"}


@given(ANYTHING)
def test_any_text_is_a_makefile(text: str) -> None:
    lines = logical_lines(text)
    assert all(line.strip() for line in lines)
    parse_makefile(text, {})


@given(st.dictionaries(NAMES, st.text("ab$(){}XY ", max_size=30), max_size=5), st.text("$({})XY a", max_size=40))
def test_variables_end_even_where_they_name_themselves(values: dict[str, str], text: str) -> None:
    assert len(expand(text, values)) < 1 << 22


def test_variables_that_double_do_not_grow_without_end() -> None:
    values = {f"A{index}": f"$(A{index + 1})$(A{index + 1})" for index in range(64)}
    assert len(expand("$(A0)", {**values, "A64": "x" * 1000})) < 1 << 20


QUOTED = st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cs"]), max_size=12)


@given(
    st.lists(st.tuples(NAMES, st.lists(st.one_of(WORDS, QUOTED.map(lambda text: f'"{text}"')), max_size=4)), max_size=6)
)
def test_commands_of_cmake_are_read_back(commands: list[tuple[str, list[str]]]) -> None:
    comment = "  # comment )\n  "
    text = "".join(f"{name} (\n  {comment.join(words)}\n)  # end\n#[[ a comment(\n ]]\n" for name, words in commands)
    found = parse_cmake(text)
    assert [each.name for each in found] == [name.lower() for name, _ in commands]
    assert [each.arguments for each in found] == [tuple(word.strip('"') for word in words) for _, words in commands]


@given(ANYTHING)
def test_any_text_is_a_cmake_script(text: str) -> None:
    for each in parse_cmake(text + 'x(a [[b]] "c'):
        assert 1 <= each.line <= each.end


SCRIPT = st.text("abcXYZ09_./", min_size=1, max_size=20).map(lambda name: f"{name}.ld")


@given(
    SCRIPT,
    st.sampled_from(
        [
            "-T{}",
            "-T {}",
            '-T "{}"',
            '-T \\"{}\\"',
            "-Wl,-T,{}",
            "-Wl,-T{}",
            "--script={}",
            "-Wl,--script={}",
            "-T '{}'",
        ]
    ),
    st.sampled_from(["", "-Ttext=0x34000400 ", "-Wl,-Map=a.map ", "-mcpu=cortex-m55 -DX=-1 ", "-Wl,-Tdata=0x1 "]),
)
def test_linker_scripts_in_flags(name: str, form: str, before: str) -> None:
    assert scripts_in(f"{before}{form.format(name)} -Wl,--gc-sections") == (name,)


@pytest.mark.parametrize("flags", ["-DMY-Table", "-Ttext 0x1", "arm-Tool x.ld", "-Wl,-Map=-Th", "--strip-all", ""])
def test_flags_without_a_linker_script(flags: str) -> None:
    assert scripts_in(flags) == ()


def test_a_variable_may_name_the_script() -> None:
    assert scripts_in("-T$(LDSCRIPT) -T ${SCRIPT}") == ("$(LDSCRIPT)", "${SCRIPT}")


XML_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), min_size=1, max_size=20)


@given(
    XML_TEXT,
    XML_TEXT.filter(lambda text: not set(text) & set('}"')),
    st.lists(XML_TEXT.filter(lambda text: text.strip('"') == text), max_size=3),
)
def test_settings_of_cube_ide_are_read_back(name: str, script: str, values: list[str]) -> None:
    listed = "".join(f"<listOptionValue value={quoteattr(value)}/>" for value in values)
    text = (
        f"<cproject><configuration name={quoteattr(name)} artifactName='x'><toolChain/>"
        f"<option superClass='a.linker.option.script' value={quoteattr('${workspace_loc:/${ProjName}/' + script + '}')}/>"
        f"<option superClass='a.option.includepaths'>{listed}</option></configuration></cproject>"
    )
    (found,) = configurations_in(parse_xml(text.encode(), Path(".cproject")))
    assert (found.name, found.linker_script) == (name, script)
    plain = [value for value in values if "$" not in value]
    assert [value for value in found.values if "$" not in value] == list(dict.fromkeys(plain))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<a",
        '<!DOCTYPE x [<!ENTITY a "aaaa">]><cproject>&a;</cproject>',
        '<?xml version="1.0" encoding="no-such"?><a/>',
        "\xff\xfe<a/>",
    ],
)
def test_xml_that_is_none_or_names_entities_is_refused(text: str) -> None:
    with pytest.raises(N6Error, match="N6-ADOPT-002"):
        parse_xml(text.encode("latin-1"), Path(".cproject"))


@given(st.binary(max_size=200))
def test_any_bytes_are_xml_or_refused(data: bytes) -> None:
    try:
        root = parse_xml(data, Path(".project"))
    except N6Error as error:
        assert error.id == "N6-ADOPT-002"
        return
    sources_in(root)
    configurations_in(root)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("PARENT-3-PROJECT_LOC/Model/network.c", "../../../Model/network.c"),
        ("$%7BPARENT-1-PROJECT_LOC%7D/Src/main.c", "../Src/main.c"),
        ("PARENT-0-PROJECT_LOC/app.ld", "app.ld"),
    ],
)
def test_files_that_a_project_names_elsewhere(place: str, name: str) -> None:
    text = f"<projectDescription><link><locationURI>{place}</locationURI></link></projectDescription>"
    assert sources_in(parse_xml(text.encode(), Path(".project"))) == (name,)
