"""An edit of the library makes again the products that it changes.

The result is that of a build from nothing.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from n6build.engine.closure import library_code
from n6build.engine.signature import FUNCTIONS
from slow_rows import telling_rows

from proof.conftest import KINDS, LIBRARY, Build, Builds, differences
from proof.python_edits import EDITS, FOLDERS_WITHOUT_BYTES, WITHOUT_BYTES, Edit
from proof.test_closures import STEP_FUNCTION, STEPS, modules_called


def named(edit: Edit) -> str:
    return f"{edit.file}: {edit.new.splitlines()[0][:40]}"


# Every run covers a module that belongs to a single step by test_file_times.py.
@pytest.mark.parametrize("edit", telling_rows(EDITS, lambda each: each.kind == "fsbl"), ids=named)
def test_an_edit_comes_to_what_a_clean_build_makes(edit: Edit, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy(edit.kind, tmp_path)
    before = build.made()
    build.project.replace(f"site_scons/n6build/{edit.file}", edit.old, edit.new)
    build.built(*edit.arguments)
    after = build.made()
    assert after[edit.differs] != before[edit.differs], f"{edit.differs} is as it was before the edit"
    clean = build.made_from_nothing(*edit.arguments)
    assert edit.differs in clean
    # After a clean build, only requested files are there.
    asked = after if not edit.arguments else {name: after.get(name, "") for name in clean}
    assert differences(asked, clean) == []
    assert build.built(*edit.arguments) == []
    assert build.made() == after


def test_every_module_that_a_step_is_made_of_is_edited_or_makes_no_bytes() -> None:
    """The steps' own modules are edited in a test below."""
    code = library_code()
    used = {part for step in (*STEPS, FUNCTIONS) for part in code.parts_of(step) if part.partition(".")[0] == "n6build"}
    edited = {*STEPS, *(edit.module for edit in EDITS)}
    listed = {*WITHOUT_BYTES, *(name for name in used if name.startswith(tuple(FOLDERS_WITHOUT_BYTES)))}
    assert used - edited - listed == set()
    # The list must not keep names that are gone or have an edit by now.
    assert set(WITHOUT_BYTES) - used == set()
    assert {name for name in WITHOUT_BYTES if name in edited} == set()


def test_every_edited_file_is_there() -> None:
    for edit in EDITS:
        assert edit.old in (LIBRARY / edit.file).read_text(), named(edit)


def hit(build: Build, module: str) -> None:
    """Let a step's function raise in its first line, and build again without that.

    The build ends at this step first, and then goes on.
    """
    path = build.root / f"site_scons/{module.replace('.', '/')}.py"
    text = path.read_text()
    patched = STEP_FUNCTION.sub(r'\g<0>    raise RuntimeError("hit")\n', text)
    assert patched != text
    path.write_text(patched)
    result = build.scons()
    path.write_text(text)
    assert result.status == 2, result.output
    assert 'RuntimeError("hit")' in result.output or "RuntimeError: hit" in result.output, result.output


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_an_edit_of_a_steps_function_runs_it(name: str, builds: Builds, tmp_path: Path) -> None:
    """Each step is tested in the first kind of build that has it."""
    names = list(KINDS)
    earlier = {module for other in names[: names.index(name)] for module in modules_called(builds.original(other))}
    build = builds.copy(name, tmp_path)
    before = build.made()
    for module in modules_called(build) - earlier:
        hit(build, module)
    # These files belong to the user: vscode.json notes the entries that were added to them, and none would be missing
    # now.
    shutil.rmtree(build.root / ".vscode", ignore_errors=True)
    build.built()
    assert build.made() == before
