"""SCons tool, stage 1: env.N6Networks(folder) -> the networks of the application: network.c, pool images, c_info, report.

Construction variables: N6_BOARD (n6build.boards.Board), N6_MODELS (tuple of n6build.models.Model), N6_PROFILE (name of a memory
pool profile), N6_BACKEND (auto, reference, st_edge_ai or prebuilt), N6_RUNTIME (n6build.network.runtimes.Runtime).
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from n6build.console import progress, say
from n6build.errors import N6Error
from n6build.files import remove_others, to_json
from n6build.network.board_pools import pools_of_networks, relocatable
from n6build.network.memory_pools import initializer_pools
from n6build.network.names import network_names
from n6build.network.runtimes import own_runtime, st_runtime
from n6build.network.st_edge_ai.find import CORE_DIR
from n6build.paths import TEMPLATES
from n6scons import library_files, only_informs, stage_action, stop_with


class Network(NamedTuple):
    """One network of the application. name: of its files. targets: network.c first. backend: that made it."""

    model: Any
    name: str
    folder: Path
    targets: list[Any]
    backend: str

    @property
    def raws(self) -> list[Any]:
        return [node for node in self.targets if str(node).endswith(".raw")]


def generate(env: Any) -> None:
    """ST's runtime takes the place of ours where STEDGEAI_CORE_DIR says where it is."""
    try:
        core = os.environ.get(CORE_DIR)
        cmsis = tuple(Path(folder) for folder in os.environ.get("N6BUILD_CMSIS", "").split(os.pathsep) if folder)
        env.SetDefault(N6_BACKEND="auto", N6_LOADER="linked")
        env.SetDefault(N6_RUNTIME=st_runtime(Path(core), cmsis) if core and not only_informs() else own_runtime())
    except N6Error as error:
        stop_with(error)
    env.AddMethod(_networks, "N6Networks")


def exists(env: Any) -> bool:
    return True


def _networks(env: Any, folder: str) -> list[Network]:
    """A single network goes to <folder>/network, several to a folder each, and each gets its part of the pool for weights."""
    board, models = env["N6_BOARD"], env["N6_MODELS"]
    try:
        names = network_names(models)
        pools_of_each = pools_of_networks(board, env["N6_PROFILE"], [model.network.pools for model in models])
        networks = []
        for model, name, given in zip(models, names, pools_of_each, strict=True):
            pools = relocatable(given) if env["N6_LOADER"] == "reloc" else given
            own = f"{folder}/network" if len(models) == 1 else f"{folder}/{name}"
            backend = _backend_of(env, model)
            targets = _BACKENDS[backend](env, own, model, pools, name)
            networks.append(Network(model, name, Path(own), targets, backend))
    except N6Error as error:
        stop_with(error)
    return networks


def _backend_of(env: Any, model: Any) -> str:
    """The command line is stronger than model.yaml. Raises N6-NET-024 where a backend cannot take the model."""
    asked = env["N6_BACKEND"] if env["N6_BACKEND"] != "auto" else model.network.backend
    if asked == "auto":
        asked = "prebuilt" if model.prebuilt else "st_edge_ai" if _stedgeai() else "reference"
    if asked == "prebuilt" and not model.prebuilt:
        hint = "model.yaml names the folder: network.folder"
        raise N6Error("N6-NET-024", "there is no compiled network to take", where=model.name, hint=hint)
    if asked != "prebuilt" and not model.file:
        raise N6Error("N6-NET-024", f"backend {asked} needs the model file", where=model.name, hint="backend=prebuilt")
    if asked == "reference" and model.file.suffix != ".tflite":
        what = f"the reference backend reads .tflite, not {model.file.suffix}"
        hint = f"{CORE_DIR} names ST's tool, which reads both; or convert the model"
        raise N6Error("N6-NET-024", what, where=model.file.name, hint=hint)
    return str(asked)


def _emptied_folder(targets: list[Any]) -> Path:
    """Without what another backend has left there: a c_info of another network, weights of another name."""
    folder = Path(str(targets[0])).parent
    remove_others(folder, {Path(str(target)).name for target in targets})
    return folder


def _reference(env: Any, folder: str, model: Any, pools: Any, name: str) -> list[Any]:
    runtime = env["N6_RUNTIME"]

    def compile_model(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.models import check_hash
        from n6build.network.reference import compile_network

        check_hash(model)
        say("Backend", "reference", "every epoch runs on the Cortex-M55")
        out = _emptied_folder(target)
        compile_network(Path(str(source[0])), pools, out, name=name, ll_aton=runtime.version)

    names = [f"{name}.c", f"{name}.h", f"{name}_c_info.json", f"{name}_generate_report.txt"]
    names += [f"{name}_atonbuf.{pool.fname}.raw" for pool in initializer_pools(pools)]
    targets = env.Command(
        [f"{folder}/{each}" for each in names],
        [env.File(str(model.file)), _pools_value(env, pools), env.Value(list(runtime.version), name="ll_aton")],
        stage_action("Network", compile_model, stage="network"),
    )
    env.Depends(targets, env.Value(model.sha256 or "", name="sha256"))
    env.Depends(targets, library_files(env, *_REFERENCE_FILES, "models.py"))
    env.Depends(targets, [env.File(str(path)) for path in sorted(TEMPLATES.glob("network*.j2"))])
    return targets


def _stedgeai() -> Any:
    from n6build.network.st_edge_ai.find import find_tool

    return find_tool(os.environ, Path.home())


def _st_edge_ai(env: Any, folder: str, model: Any, pools: Any, name: str) -> list[Any]:
    from n6build.network.st_edge_ai.find import installed_version
    from n6build.network.st_edge_ai.options import profile_path, scrubbed, with_profile

    installation = _stedgeai()
    if installation is None:
        hint = f"set {CORE_DIR} to the root of ST Edge AI Core, or use backend=reference"
        raise N6Error("N6-STAI-004", "ST Edge AI Core was not found", hint=hint)
    environment = scrubbed(os.environ)
    version = installed_version(installation, environment, Path(env["N6_BUILD"]) / "stedgeai.json")
    described_in = model.description_file.parent if model.description_file else None
    options = with_profile(model.network.st_edge_ai, described_in)
    profile = profile_path(model.network.st_edge_ai, described_in)

    def compile_model(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.models import check_hash
        from n6build.network.model_facts import check_for_npu, read_model_facts
        from n6build.network.st_edge_ai.compile import compile_network

        check_hash(model)
        check_for_npu(read_model_facts(model.file), version.text, model.waived, model.file.name)
        say("Backend", "st_edge_ai", f"ST Edge AI Core {version.text}")
        compile_network(
            Path(str(source[0])),
            pools,
            _emptied_folder(target),
            name,
            options,
            installation,
            version,
            environment,
            on_progress=lambda percent: progress("Compile", name, percent),
            on_note=lambda note: say("Note", name, note),
        )

    from n6build.network.st_edge_ai.compile import output_names

    targets = env.Command(
        [f"{folder}/{each}" for each in output_names(name, pools, options, version)],
        [env.File(str(model.file)), _pools_value(env, pools), env.Value(repr(options), name="options")],
        stage_action("Network", compile_model, stage="network"),
    )
    env.Depends(targets, env.Value(f"{version.text} {model.sha256 or ''} {sorted(model.waived)}", name="version"))
    env.Depends(targets, [env.File(str(path)) for path in (installation.executable, profile) if path])
    env.Depends(
        targets, library_files(env, "network/st_edge_ai", "network/mpool.py", "network/model_facts.py", "models.py")
    )
    log = f"{folder}/{name}_stedgeai.log"
    env.SideEffect(log, targets)
    env.Clean(targets, log)
    return targets


def _prebuilt(env: Any, folder: str, model: Any, pools: Any, name: str) -> list[Any]:
    from n6build.network.prebuilt import find_network

    found = find_network(model.prebuilt, name)

    def copy(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.network.prebuilt import import_network

        say("Backend", "prebuilt", f"{len(found.inputs)} files of {found.source.parent.name}")
        import_network(found, _emptied_folder(target))

    targets = env.Command(
        [f"{folder}/{each}" for each in found.outputs],
        [env.File(str(path)) for path in found.inputs],
        stage_action("Network", copy, stage="network"),
    )
    env.Depends(targets, library_files(env, "network/prebuilt.py"))
    return targets


def _pools_value(env: Any, pools: Any) -> Any:
    return env.Value(to_json([asdict(pool) for pool in pools]), name="memory pools")


# What the reference backend is made of: a change of another backend compiles nothing again.
_REFERENCE_FILES = [
    "network/c_info.py",
    "network/fixed_point.py",
    "network/generated_c.py",
    "network/graph.py",
    "network/graph_checks.py",
    "network/liveness.py",
    "network/lowering.py",
    "network/memory_pools.py",
    "network/placement.py",
    "network/reference.py",
    "network/report.py",
    "network/tflite_reader.py",
    "network/units.py",
]
_BACKENDS = {"reference": _reference, "st_edge_ai": _st_edge_ai, "prebuilt": _prebuilt}
