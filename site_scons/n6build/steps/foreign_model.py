"""A relocatable model made by another tool, as a network of an application.

Its file contains the description of the network.

Choices that follow from relocatable models made by another tool. These models decide options that
are otherwise free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, remove_others, write_atomically
from n6build.base.paths import project_path
from n6build.base.span import Span
from n6build.compile.artifacts.stored import artifacts_json, stored_name
from n6build.compile.backend import Backend, check_sha256, has_no_options
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import RuntimeVersion, check_epochs, version_mismatch
from n6build.describe.choices import Choices
from n6build.describe.hardware.board import Board
from n6build.describe.model import Model
from n6build.describe.relocatable_file import params_beside
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.contents import artifacts_of
from n6build.place.reloc.description import RelocDescription, description_json
from n6build.place.reloc.reader import MAX_BYTES, RelocFile, parse_reloc_file, read_reloc_file
from n6build.place.reloc.verify import check_given, ram_of
from n6build.steps.compiled_network import NetworkSteps


@dataclass(frozen=True)
class ForeignModelParameters:
    """Parameters of the step.

    Attributes:
        name: Name of the network.
        ram: RAM of the board.
        runtime: Runtime linked with the Appli.
        sha256: Digest in model.yaml, or None.
    """

    name: str
    ram: tuple[Span, ...]
    runtime: RuntimeVersion
    sha256: str | None


def _nothing_to_compile(*_: object) -> Step:
    raise AssertionError("the steps of a given model come from `given_network`")


# Properties of a backend that later stages read. It cannot be chosen, because there is nothing to compile.
GIVEN = Backend(
    name="given",
    preference=-1,
    strict=True,
    exact=False,
    for_npu=False,
    suits=lambda *_: False,
    check=lambda _: None,
    check_options=has_no_options,
    step=_nothing_to_compile,
    takes_pools=False,
    kernels=lambda _: (),
)


def given_network(folder: str, name: str, model: Model, board: Board, runtime: RuntimeVersion) -> NetworkSteps:
    """Return the steps of a model that is already relocatable.

    Args:
        folder: Folder for its files.
        name: Name of the network.
        model: Model with a relocatable file.
        board: Board of the application.
        runtime: Runtime linked with the Appli.

    Raises:
        N6Error: N6-RELOC-030 to N6-RELOC-034 if the file is not a relocatable model; N6-RELOC-042 if
            the weights of a split model are missing.
    """
    assert model.relocatable is not None
    files = [model.relocatable]
    outputs = [stored_name(name), f"{name}_reloc.json", f"{name}_rel.bin"]
    if read_reloc_file(model.relocatable).is_split:
        files.append(_params_of(model.relocatable))
        outputs.append(f"{name}_rel_params.bin")
    step = Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{folder}/{each}" for each in outputs),
        sources=tuple(map(project_path, files)),
        parameters=to_parameters(ForeignModelParameters(name, ram_of(board), runtime, model.sha256)),
        function="n6build.steps.foreign_model:make_foreign_model",
    )
    return NetworkSteps(model, name, folder, GIVEN, (), step, ())


def _params_of(model: Path) -> Path:
    params = params_beside(model)
    if not is_file(params):
        raise N6Error(
            "N6-RELOC-042",
            f"its weights file '{params.name}' is missing in the same folder",
            where=str(model),
            hint="keep both files of npu_driver.py --split in one folder, under their names",
        )
    return params


def kind_of(model: RelocFile) -> tuple[bool, bool, bool]:
    """Return (is split, is secure, has debug fields) of the model."""
    return model.is_split, model.flags.secure, model.flags.debug_info


def words_of(model: RelocFile) -> str:
    """Return the kind of the model in words."""
    split, secure, debug_info = kind_of(model)
    words = ("split" if split else "whole", "secure" if secure else "non-secure", "with" if debug_info else "without")
    return f"{', '.join(words)} debug fields"


def make_foreign_model(call: Call) -> None:
    """Write the descriptions of network and model, and copy the model's files.

    Raises:
        N6Error: N6-MODEL-006, N6-RELOC-030 to N6-RELOC-034, N6-RELOC-040, N6-RELOC-041, N6-RELOC-044 or
            N6-LLATON-004 if the model is damaged or does not fit the board or the runtime.
    """
    given = call.parameters_as(ForeignModelParameters)
    source = call.sources[0]
    check_sha256(source, given.sha256)
    data = read_at_most(source, MAX_BYTES)
    params = read_at_most(call.sources[1], MAX_BYTES) if len(call.sources) > 1 else None
    model = parse_reloc_file(data, source.name)
    _check_version(model, given.runtime, source.name)
    check_given(model, params, given.ram, given.runtime.version, source.name)
    artifacts = artifacts_of(model, call.outputs[2], given.name)
    check_epochs(artifacts, given.runtime, runs_blobs=False)
    described = RelocDescription(
        given.name, model.code_crc32, model.pools, (), tuple(each.bytes for each in artifacts.outputs)
    )
    say(
        "Model",
        source.name,
        f"ll_aton {version_text(model.version)}, {words_of(model)}, made by {model.version_text}",
    )
    remove_others(call.outputs[0].parent, {path.name for path in call.outputs})
    contents = (artifacts_json(artifacts), description_json(described), data, params)
    for path, content in zip(call.outputs, contents, strict=False):
        assert content is not None
        write_atomically(path, content)


def _check_version(model: RelocFile, runtime: RuntimeVersion, file: str) -> None:
    """Check that the model has the version of the runtime's ll_aton.

    A waiver would not help: the loader compares the versions. Where it does not, the model calls the
    wrong functions.
    """
    found = version_mismatch(model.version, runtime, file)
    if found:
        hint = (
            f"set STEDGEAI_CORE_DIR to ST Edge AI Core {model.abi.core}, which has its ABI, or make the model with "
            f"the other release"
        )
        raise N6Error("N6-RELOC-044", found.what, where=file, hint=hint)


def as_the_models_are(choices: Choices, models: Sequence[Model]) -> Choices:
    """Return the choices, adjusted to relocatable models made by another tool.

    The models decide if weights are separate files, the security state, and the debug fields.

    Raises:
        N6Error: N6-OPTION-004 without loader=reloc; N6-RELOC-043 if choices or models contradict one
            another; the errors of `read_reloc_file`.
    """
    given = {model.name: read_reloc_file(model.relocatable) for model in models if model.relocatable}
    if not given:
        return choices
    first = next(iter(given))
    if choices.loader != "reloc":
        what = f"model {first} is a relocatable model, which cannot be linked into an Appli"
        raise N6Error("N6-OPTION-004", what, hint="loader=reloc")
    refused = {
        f"backend={choices.backend}": choices.backend != "auto",
        "epochs=1": choices.epochs,
        f"name={choices.name}": choices.name,
        "split=1": choices.split and not given[first].is_split,
        "secure=0": not choices.secure and given[first].flags.secure,
    }
    for option, has_effect in refused.items():
        if has_effect:
            what = f"'{option}' is for a network that n6build compiles, but this one is already compiled and linked"
            raise N6Error("N6-RELOC-043", what, where=first, hint="omit it")
    for name, file in given.items():
        if kind_of(file) != kind_of(given[first]):
            what = (
                f"one application needs models of one kind: {first} is {words_of(given[first])}, {name} "
                f"{words_of(file)}"
            )
            raise N6Error("N6-RELOC-043", what, where=name, hint="make both with the same options of npu_driver.py")
    is_split, is_secure, debug_info = kind_of(given[first])
    return replace(choices, split=is_split, secure=is_secure, debug_info=debug_info)
