"""Options and command of ST's compiler: key network.st_edge_ai of a model.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.compile.st_edge_ai.compiler_profile import options_in, read_profiles
from n6build.compile.st_edge_ai.find import CoreVersion, Installation

DataType = Literal["float32", "int8", "uint8"]
ChannelPosition = Literal["chfirst", "chlast"]

# ST's example applications are compiled with these options; --all-buffers-info lists the addresses of buffers.
DEFAULT_OPTIONS = (
    "-O3 --all-buffers-info --cache-maintenance --Oauto-sched --native-float --enable-virtual-mem-pools "
    "--Omax-ca-pipe 4 --Ocache-opt --Os --enable-epoch-controller"
)
EPOCH_CONTROLLER = "--enable-epoch-controller"
PROFILE = "n6build"
# These belong to the flow for a Cortex-M without NPU; with the NPU they make another kind of output, or fail late.
_CORTEX_M_ONLY = (
    "--binary",
    "--address",
    "--copy-weights-at",
    "--ihex",
    "--split-weights",
    "--memory-pool",
    "--compression",
    "-c",
    "--optimization",
    "-O",
)
_SET_BY_THE_BUILD = (
    "-m",
    "--model",
    "--target",
    "--st-neural-art",
    "-n",
    "--name",
    "-o",
    "--output",
    "-w",
    "--workspace",
    "--no-workspace",
    "--no-report",
    "-r",
    "--relocatable",
    "--no-c-files",
)


@dataclass(frozen=True)
class CompilerOptions:
    """Options of backend st_edge_ai.

    Attributes:
        options: Options of the NPU compiler, instead of the default.
        profile: `name@file` of a profile file beside the model.yaml, from which the options are
            taken; its memory pools are not used, the board's are.
        input_data_type, output_data_type: Type of inputs or outputs as the application sees them.
        inputs_ch_position, outputs_ch_position: Position of the channels of inputs or outputs as
            the application sees them.
        own_inputs: The application allocates the buffers of inputs.
        own_outputs: The application allocates the buffers of outputs.
        arguments: More arguments for stedgeai.
    """

    options: str | None = None
    profile: str | None = None
    input_data_type: DataType | None = None
    output_data_type: DataType | None = None
    inputs_ch_position: ChannelPosition | None = None
    outputs_ch_position: ChannelPosition | None = None
    own_inputs: bool = False
    own_outputs: bool = False
    arguments: tuple[str, ...] = ()


def with_profile(options: CompilerOptions, folder: Path | None) -> CompilerOptions:
    """Return the options with those of the named profile, from its file in `folder`.

    Raises:
        N6Error: N6-STAI-013, N6-PROFILE-00x.
    """
    if options.profile is None:
        return options
    name, _, file = options.profile.partition("@")
    if not name or not file or folder is None:
        what = f"'{options.profile}' is not a profile"
        raise N6Error("N6-STAI-013", what, where="network.st_edge_ai.profile", hint="write default@neural_art.json")
    return replace(options, options=options_in(read_profiles(folder / file), name, file), profile=None)


def compiler_options(options: CompilerOptions, version: CoreVersion) -> str:
    """Return the options of the NPU compiler, as in a profile."""
    text = DEFAULT_OPTIONS if options.options is None else options.options
    return f"{text} --mvei" if version.needs_mvei and "--mvei" not in text.split() else text


def check_options(options: CompilerOptions, where: str) -> None:
    """Check the options of a model.yaml.

    Raises:
        N6Error: N6-STAI-010 for arguments that belong to another flow or to the build, and for
            options given twice.
    """
    if options.profile and options.options is not None:
        raise N6Error("N6-STAI-010", "both 'profile' and 'options' are given", where=where, hint="remove one of them")
    for argument in options.arguments:
        name = argument.split("=", 1)[0]
        if name in _CORTEX_M_ONLY:
            what = f"'{name}' belongs to the flow without NPU"
            raise N6Error(
                "N6-STAI-010", what, where=where, hint="remove it: the NPU uses memory pools and profiles instead"
            )
        if name in _SET_BY_THE_BUILD:
            raise N6Error("N6-STAI-010", f"'{name}' is set by the build", where=where, hint="remove it")


def check_paths(model: Path, *others: Path) -> None:
    """Check the paths for ST's compiler.

    Raises:
        N6Error: N6-STAI-011 for a non-ASCII character, on which the compiler crashes; N6-STAI-012
            for an intermediate model.
    """
    for path in (model, *others):
        if not str(path).isascii():
            letter = next(letter for letter in str(path) if not letter.isascii())
            hint = "use only ASCII characters in the paths of the model and of the build folder"
            raise N6Error(
                "N6-STAI-011",
                f"ST's compiler crashes on the character '{letter}' in a path",
                where=str(path),
                hint=hint,
            )
    if model.suffix == ".onnx" and "_OE_" in model.stem:
        hint = "pass the original model"
        raise N6Error("N6-STAI-012", "is an intermediate file of ST Edge AI Core", where=model.name, hint=hint)


def generate_command(
    installation: Installation,
    model: Path,
    options: CompilerOptions,
    *,
    name: str,
    profile: Path,
    output: Path,
    workspace: Path,
    relocatable: bool = False,
) -> list[str]:
    """Return the command that compiles a model.

    All paths have to be absolute: the tool runs in its own folder.

    Args:
        installation: The tool.
        model: Model file.
        options: Options of the compiler.
        name: Name of the network.
        profile: File with the profile `n6build`.
        output: Folder for the output.
        workspace: Folder for intermediate files.
        relocatable: Make <name>_rel.bin, too.
    """
    command = [str(installation.executable), "generate", "--model", str(model), "--target", "stm32n6"]
    command += ["--relocatable"] if relocatable else []
    command += ["--st-neural-art", f"{PROFILE}@{profile}", "--name", name]
    command += ["--output", str(output), "--workspace", str(workspace)]
    for flag, value in (
        ("--input-data-type", options.input_data_type),
        ("--output-data-type", options.output_data_type),
        ("--inputs-ch-position", options.inputs_ch_position),
        ("--outputs-ch-position", options.outputs_ch_position),
    ):
        command += [flag, value] if value else []
    command += ["--no-inputs-allocation"] if options.own_inputs else []
    command += ["--no-outputs-allocation"] if options.own_outputs else []
    return [*command, *options.arguments]


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the environment that the tool gets."""
    return dict(read_environment(environment).stedgeai)
