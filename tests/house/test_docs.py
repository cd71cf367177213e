"""The documentation site is complete, its links work, and it is reproducible."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.members import members
from n6build.base.yaml_schema import read_document
from n6build.check.run import CHECKS
from n6build.compile.backend import Backend, has_no_options
from n6build.describe.hardware.board import BoardFile
from n6build.describe.hardware.boards import board_names
from n6build.describe.hardware.i2c import I2cPart
from n6build.describe.hardware.nor import NorCommands
from n6build.describe.hardware.psram import PsramCommands
from n6build.describe.hardware.soc import Soc
from n6build.describe.model import ModelFile
from n6build.describe.project_settings import OPTIONS
from n6build.describe.targets import TARGETS
from n6build.engine.step import Step

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("mkdocs", reason="extra [docs] is not installed; make setup does")

from browser import browse  # noqa: E402
from markdown import Markdown  # noqa: E402
from reference_docs import markdown as pieces  # noqa: E402
from reference_docs.formats import JSON  # noqa: E402
from reference_docs.links import broken, links_in  # noqa: E402
from reference_docs.meanings import parts  # noqa: E402
from reference_docs.messages import errors_with_anchors  # noqa: E402
from reference_docs.schema import Key, examples_in, keys  # noqa: E402
from reference_docs.yaml_files import BACKENDS, MODEL_EXAMPLE  # noqa: E402

IN_PLACE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_GENERATE = (
    "import json, pathlib, sys\n"
    "from reference_docs.generated import pages\n"
    "print(json.dumps(pages(pathlib.Path(sys.argv[1]))))"
)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Generate the pages in another process, because SCons's tools change their own."""
    command = [sys.executable, "-c", _GENERATE, str(ROOT)]
    environment = {"PYTHONPATH": f"{ROOT / 'tools'}:{ROOT / 'site_scons'}", "PATH": ""}
    found: dict[str, str] = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    return found


def plain(page: str) -> str:
    """Return the page with numeric character references decoded."""
    return re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), page)


def first_cells(page: str) -> set[str]:
    """Return the code in the first cell of each table row."""
    return set(re.findall(r"^\| (?:<a id=\"[^\"]+\"></a>)?<code>(.*?)</code>", plain(page), re.MULTILINE))


def test_every_option_target_check_and_board_has_its_place(pages: dict[str, str]) -> None:
    assert first_cells(pages["reference/options.md"]) == {option.name for option in OPTIONS}
    assert first_cells(pages["reference/targets.md"]) == {*TARGETS}
    assert set(re.findall(r"\[(N6-CHECK-\d+)\]", pages["reference/checks.md"])) == {check.id for check in CHECKS}
    assert {f"boards/{name}.md" for name in board_names()} < {*pages}


def test_a_page_of_an_option_has_its_default_its_values_and_its_variable(pages: dict[str, str]) -> None:
    text = plain(pages["reference/options.md"])
    for option in OPTIONS:
        row = next(line for line in text.splitlines() if f"<code>{option.name}</code>" in line.split(" | ")[0])
        wanted = [*option.choices, option.default, option.environment]
        assert [each for each in wanted if each and f"<code>{each}</code>" not in row] == []


def test_every_builder_of_the_tools_of_scons_is_there(pages: dict[str, str]) -> None:
    text = plain(pages["reference/builders.md"])
    source = "".join(path.read_text() for path in (ROOT / "site_scons/site_tools").glob("*.py"))
    added = {
        *re.findall(r'AddMethod\([^"]*?"(N6\w+)"\)', source),
        *re.findall(r'^ +\("(N6\w+)", _', source, re.MULTILINE),
    }
    assert {"N6Network", "N6Appli", "N6Image", "N6Flash", "N6Run", "N6CompileCommands", "N6Steps"} <= added
    assert set(re.findall(r"^### (N6\w+)$", text, re.MULTILINE)) == added
    variables = {
        name for names in re.findall(r"SetDefault\(([^)]*\)?)", source) for name in re.findall(r"(N6_\w+)=", names)
    }
    described = dict(re.findall(r"<code>(N6_\w+)</code> \| .*? \| (.*?) \|", text))
    assert variables <= {*described}
    assert [name for name, what in described.items() if not what] == []


def test_every_error_has_an_anchor() -> None:
    text = (ROOT / "docs/errors.md").read_text()
    ids = re.findall(r"^\| (N6-[A-Z]+-\d{3}) \|", text, re.MULTILINE)
    assert len(ids) > 280
    assert re.findall(r'<a id="(N6[^"]+)"></a>', errors_with_anchors(text)) == ids


def schema_keys() -> list[tuple[str, Key]]:
    found = [(name, key) for name, kind, _ in (*JSON, ("plan.json", Step, "")) for key in keys(kind)]
    described = (BoardFile, Soc, NorCommands, PsramCommands, I2cPart)
    found += [(kind.__name__, key) for kind in described for key in keys(kind)]
    return found + [("model.yaml", key) for key in keys(ModelFile, BACKENDS)]


def test_every_key_of_a_file_for_others_says_what_it_means() -> None:
    assert [f"{file}: {key.path}" for file, key in schema_keys() if not key.meaning] == []
    assert [f"{file}: {key.path}" for file, key in schema_keys() if "anything" in key.kind] == []


def test_the_example_has_every_key_of_a_model_and_is_one() -> None:
    document = read_document(MODEL_EXAMPLE)
    document.load(ModelFile).network.backends["st_edge_ai"].load(BACKENDS["st_edge_ai"])
    leaves = {key.path for key in keys(ModelFile, BACKENDS) if not key.is_section}
    assert leaves - {*examples_in([MODEL_EXAMPLE], ModelFile, BACKENDS)} == set()


def test_the_example_of_a_key_is_the_value_that_a_board_has() -> None:
    found = examples_in([ROOT / "boards/openmv-n6/board.yaml"], BoardFile)
    board = yaml.safe_load((ROOT / "boards/openmv-n6/board.yaml").read_text())
    assert yaml.safe_load(found["nor.jedec_id"]) == board["nor"]["jedec_id"]
    assert found["external_ram.regions.<name>.limit"] == "28M"


def test_every_backend_that_has_options_is_described() -> None:
    backends = members("n6build.compile.*.backend", "BACKEND", Backend)
    assert {each.name for each in backends if each.check_options is not has_no_options} == {*BACKENDS}


def test_a_docstring_says_of_which_fields_it_speaks() -> None:
    doc = """A box. width, height: of it, in mm: outside.

    *_colour: what it is painted with. nothing: is no field."""
    first, said = parts(doc, ["width", "height", "lid_colour", "depth"])
    assert first == "A box."
    assert said["width"] == said["height"] == "of it, in mm: outside."
    assert said["lid_colour"] == "what it is painted with. nothing: is no field."
    assert "depth" not in said


@given(
    st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), blacklist_characters="`"), min_size=1)
)
def test_no_text_of_the_code_is_taken_for_markup(words: str) -> None:
    html = Markdown(extensions=["tables"]).convert(pieces.table(("a", "b"), [(pieces.text(words), pieces.code(words))]))
    cells = re.findall(r"<td>(.*?)</td>", html, re.DOTALL)
    assert len(cells) == 2
    assert re.sub(r"&#?\w+;|</?code>", "", "".join(cells)).count("<") == 0


def test_troubleshooting_has_every_finding_of_the_virtual_board() -> None:
    source = " ".join(path.read_text() for path in sorted((ROOT / "tools/virtual_board").glob("*.c")))
    said = re.findall(r"n6virt_finding(?:_at)?\((?:[^\";]*?, )?\"([a-z]+(?:-[a-z]+)*)\",", source)
    # Some files report their findings through a short local macro or function.
    said += re.findall(r"(?<!\w)finding\(\"([a-z]+(?:-[a-z]+)*)\",", source)
    table = (ROOT / "docs/troubleshooting.md").read_text().partition("| finding | means |")[2]
    assert len({*said}) > 20
    assert {*said} == {*re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)}


def test_readme_is_what_a_newcomer_needs() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 120


def test_readme_and_first_page_say_the_same_of_the_two_commands() -> None:
    """Name the same systems and commands in both; only their links differ."""
    pages = [(ROOT / name).read_text() for name in ("README.md", "docs/index.md")]
    first, second = (page.partition("## Two commands\n")[2].partition("\n## ")[0] for page in pages)
    assert "Debian 12 or 13" in first
    assert first.replace("](docs/", "](") == second


def test_the_first_page_begins_with_what_it_is_a_picture_the_commands_and_an_output() -> None:
    page = (ROOT / "docs/index.md").read_text()
    order = ("# n6build", "n6build takes a neural network", "![", "make flash ", "Result 10 of 10 outputs equal")
    places = [page.index(each) for each in order]
    assert places == sorted(places)
    assert "![" in (ROOT / "README.md").read_text()[:600]


@pytest.mark.parametrize("name", [*IN_PLACE, "firmware/bring_up/README.md", "firmware/kernels/README.md"])
def test_links_of_the_repository_lead_somewhere(name: str) -> None:
    folder = str(Path(name).parent)
    wrong = [broken(ROOT, folder, target) for target in links_in((ROOT / name).read_text())]
    assert [why for why in wrong if why] == []


def test_lines_of_pages_are_at_most_120_letters() -> None:
    """Tables, commands and long addresses have lines of their own length."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    lines = [
        f"{page.name}:{number}"
        for page in pages
        if page.name != "CHANGELOG.md"
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if len(line) > 120 and " " in line.strip() and not line.startswith(("|", "    ", "[", "n6build "))
    ]
    assert lines == []


def test_a_link_in_code_is_none() -> None:
    text = "[a](b) and `[c](d)`\n\n    [e](f)\n\n```c\n[g](h)\n```\n[`i`](j)\n"
    assert [*links_in(text)] == ["b", "j"]


def build(folder: Path, site: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")]
    command += ["--site-dir", str(folder / site)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def copied(folder: Path) -> Path:
    """Copy the pages and their configuration to another folder."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    configuration = (ROOT / "mkdocs.yml").read_text()
    hook = "tools/reference_docs/mkdocs_hook.py"
    (folder / "mkdocs.yml").write_text(configuration.replace(hook, str(ROOT / hook)))
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copied(tmp_path_factory.mktemp("built") / "here")
    said = build(folder, "site")
    assert said.returncode == 0, said.stdout
    assert "WARNING" not in said.stdout
    return folder / "site"


def test_the_site_builds_without_a_warning_to_the_same_bytes_anywhere(tmp_path: Path, built: Path) -> None:
    second = copied(tmp_path / "there")
    assert build(second, "other").returncode == 0
    site = content(built)
    assert site == content(second / "other")
    assert {"index.html", "errors.html", "boards/nucleo-n657.html", "reference/options.html"} <= {*site}
    text = b"".join(data for name, data in sorted(site.items()) if name.endswith((".html", ".json", ".xml")))
    assert str(ROOT).encode() not in text
    assert b"Build Date" not in text
    # No reader's browser sends a request to another server.
    assert (
        re.findall(rb'(?:src|srcset)="(https?:[^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="(https?:[^"]*)"', text) == []
    )


def test_the_search_works_on_a_site_that_was_opened_as_a_file(tmp_path: Path, built: Path) -> None:
    """Find the row of an error, which is no heading, without a server."""
    wait = "--virtual-time-budget=60000"
    page = browse(built / "search.html", tmp_path, wait, "--dump-dom", query="?q=n6-fw-024")
    results = page.partition('id="mkdocs-search-results"')[2]
    assert re.search(r"<p>[1-9][0-9]* results\.</p>", results), results[:300]
    assert 'href="./errors.html#N6-FW-024"' in results
    assert "<mark>" in results
    assert not list((built / "search").glob("*.json"))


def test_a_narrow_screen_has_a_search_box_outside_of_the_sidebar(built: Path) -> None:
    for name, up in (("index.html", "."), ("boards/nucleo-n657.html", "..")):
        bar = (built / name).read_text().partition('<nav class="wy-nav-top"')[2].partition("</nav>")[0]
        assert f'role="search" action="{up}/search.html"' in bar


def test_a_broken_link_ends_the_build(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    links = ("nowhere.md", "errors.md#N6-FW-999", "../boards/nobody/board.yaml", "../CONTRIBUTING.md#no-such-heading")
    with (folder / "docs/index.md").open("a") as page:
        page.write("".join(f"\n[words]({link})\n" for link in links))
    said = build(folder, "site")
    assert said.returncode != 0
    for named in ("nowhere.md", "N6-FW-999", "boards/nobody/board.yaml", "no-such-heading"):
        assert named in said.stdout
