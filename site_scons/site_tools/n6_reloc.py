"""SCons tool, stage 2: env.N6Reloc -> a network as relocatable model; env.N6RelocPlan -> where models go in flash.

Construction variables: N6_RELOC_SECURE and N6_RELOC_DEBUG_INFO (of code and pools), N6_RELOC_SPLIT (weights as a file of their
own), N6_RELOC_C_FILE (a C array, too), N6_RELOC_PARSE_ONLY, N6_RELOC_SLOTS (1, or 2 for A and B), N6_RELOC_ADDRESSES (of the only
model), N6_LOAD_MODE (copy or xip).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from n6build.errors import N6Error
from n6build.files import read_bytes, write_atomically, write_chunks_atomically
from n6build.paths import TEMPLATES
from n6scons import library_files, once, quiet_action, stage_action, stop_with

_FILES = ("reloc/layout.py", "reloc/pools.py", "reloc/generated_c.py", "reloc/preconditions.py", "reloc/description.py")
_FILES += ("network/signature.py", "network/artifacts.py")
_FILES += ("network/read_artifacts.py", "network/c_info_reader.py", "network/network_c.py")
_BINARY = ("reloc/binary.py", "reloc/elf.py", "reloc/layout.py", "reloc/pools.py", "reloc/description.py", "files.py")


_SLOT = ("reloc/slots.py", "reloc/description.py", "reloc/reader.py", "reloc/verify.py", "reloc/loader.py")
_SLOT += ("reloc/layout.py", "memory_plan/vectors.py")


class RelocModel(NamedTuple):
    """description: <name>_reloc.json. file: network_rel.bin. params: the weights where they are split off, else None."""

    network: Any
    description: Any
    elf: Any
    file: Any
    params: Any | None
    others: list[Any]

    @property
    def files(self) -> list[Any]:
        """What target 'reloc' is asked for."""
        return [self.file, *([self.params] if self.params else []), *self.others]


def generate(env: Any) -> None:
    env.SetDefault(
        N6_RELOC_SECURE=True,
        N6_RELOC_DEBUG_INFO=True,
        N6_RELOC_SPLIT=False,
        N6_RELOC_C_FILE=False,
        N6_RELOC_PARSE_ONLY=False,
        N6_RELOC_SLOTS=1,
        N6_RELOC_ADDRESSES="",
        N6_LOAD_MODE="copy",
        N6_RELOC_VERBOSITY=0,
        N6_RELOC_LOG="",
    )
    env.AddMethod(_reloc, "N6Reloc")
    env.AddMethod(_reloc_alias, "N6RelocAlias")
    env.AddMethod(_reloc_plan, "N6RelocPlan")


def exists(env: Any) -> bool:
    return True


def _reloc(env: Any, folder: str, board_folder: str, network: Any) -> RelocModel:
    """network: of N6Networks. board_folder: for objects that all models are linked with."""
    from n6build.reloc.compilation import LINK, conf_header_name, model_code

    name, folder = network.name, f"{folder}/{network.name}_rel"
    state = ("" if env["N6_RELOC_SECURE"] else "-ns") + ("" if env["N6_RELOC_DEBUG_INFO"] else "-nodbg")
    common = f"{board_folder}/common/model{state}" + ("" if env["N6_RUNTIME"].name == "n6build" else "-st")
    try:
        code = model_code(
            env["N6_RUNTIME"],
            conf_header_name(name),
            secure=env["N6_RELOC_SECURE"],
            debug_info=env["N6_RELOC_DEBUG_INFO"],
        )
    except N6Error as error:
        stop_with(error)
    conf, pools, wrapper, script, description = _sources(env, folder, network)
    # Next to network.c, whose own headers it needs; code of ST's compiler is not held to the warnings of this project.
    quiet = [] if network.backend == "reference" else ["-w"]
    own = env.Clone(
        CPPPATH=[*(str(path) for path in code.include_folders), f"#{network.folder}", f"#{folder}"],
        CPPDEFINES=_for_shell(code.network_defines),
        CCFLAGS=[*env["CCFLAGS"], *code.network_flags, *quiet],
    )
    objects = [own.Object(f"{folder}/{Path(str(node)).stem}.o", node) for node in (wrapper, pools)]
    env.Depends(objects, conf)
    # A network from elsewhere may be of the reference backend, too; the linker leaves out what is not called.
    objects += _shared_objects(env, common, code)
    elf = f"{folder}/{name}_rel.elf"
    map_file = f"{folder}/{name}_rel.map"
    cpu = [flag for flag in env["LINKFLAGS"] if flag.startswith("-m")]
    link = [*cpu, *LINK, "-T", script, f"-Wl,-Map={map_file}"]
    libraries = [env.File(str(library)) for library in code.libraries]
    program = env.Program(elf, [*objects, *libraries], LINKFLAGS=link)
    env.Depends(program, script)
    env.SideEffect(map_file, program)
    env.Clean(program, map_file)
    file, params = _binary(env, folder, network, program[0], description)
    others = [_c_file(env, f"{folder}/{name}_rel.c", file)] if env["N6_RELOC_C_FILE"] else []
    return RelocModel(network, description, program[0], file, params, others)


def _shared_objects(env: Any, common: str, code: Any) -> list[Any]:
    """code: n6build.reloc.compilation.ModelCode. Once for all models of a call of scons: they are the same targets."""

    def make() -> list[Any]:
        shared = env.Clone(CPPPATH=[str(path) for path in code.include_folders], CPPDEFINES=_for_shell(code.defines))
        return [
            shared.Object(f"{common}/{source.stem}.o", env.File(str(source)), CCFLAGS=[*env["CCFLAGS"], *flags])
            for source, flags in code.shared
        ]

    return list(once(common, make))


def _for_shell(defines: tuple[str, ...]) -> list[str]:
    """A header's name keeps its quotes."""
    return [define.replace('"', '\\"') for define in defines]


def _reloc_alias(env: Any, name: str, models: list[RelocModel]) -> None:
    """The files of all models, or, with N6_RELOC_PARSE_ONLY, their tables of memory pools on the console."""
    if not env["N6_RELOC_PARSE_ONLY"]:
        files = [model.files for model in models]
        if env["N6_RELOC_VERBOSITY"] or env["N6_RELOC_LOG"]:
            env.AlwaysBuild(env.Alias(name, files, quiet_action(_summary, stage="reloc")))
        else:
            env.Alias(name, files)
        return

    def show(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.reloc.description import read_description
        from n6build.reloc.show import pool_table

        for node in source:
            pools = read_description(Path(str(node))).pools
            print(pool_table(pools, 0, [0] * len(pools)), end="", flush=True)

    shown = env.Alias(name, [model.description for model in models], quiet_action(show, stage="reloc"))
    env.AlwaysBuild(shown)


def _summary(target: list[Any], source: list[Any], env: Any) -> None:
    """Of all models, on the console and in the file that option log names."""
    from n6build.reloc.reader import read_reloc_file
    from n6build.reloc.show import summary

    models = [path for path in (Path(str(node)) for node in source) if path.name.endswith("_rel.bin")]
    text = "\n".join(summary(read_reloc_file(path)) for path in models)
    if env["N6_RELOC_VERBOSITY"]:
        print(text, end="", flush=True)
    if env["N6_RELOC_LOG"]:
        write_atomically(Path(env["N6_RELOC_LOG"]), text)


def _sources(env: Any, folder: str, network: Any) -> list[Any]:
    """Configuration, pool table, wrapper, linker script and description."""
    from n6build.reloc.compilation import conf_header_name

    runtime, secure = env["N6_RUNTIME"], env["N6_RELOC_SECURE"]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.network.network_c import read_network_c
        from n6build.network.read_artifacts import read_artifacts
        from n6build.network.runtimes import check_epochs, check_version
        from n6build.network.signature import network_signature
        from n6build.reloc.description import describe, description_json
        from n6build.reloc.generated_c import reloc_sources
        from n6build.reloc.pools import pool_table
        from n6build.reloc.preconditions import check_buffers_known, version_for

        artifacts = read_artifacts(network.folder, network.name)
        check_epochs(artifacts, runtime)
        check_version(artifacts.ll_aton, runtime, artifacts.source.name)
        check_buffers_known(artifacts, read_network_c(artifacts.source))
        table = pool_table(artifacts, secure=secure)
        text = read_bytes(artifacts.source).decode("utf-8", "replace")
        made = reloc_sources(artifacts, table, version_for(artifacts, runtime.version), text)
        described = describe(artifacts, table, network_signature(artifacts.source))
        contents = (made.conf, made.pools, made.wrapper, made.script, description_json(described))
        for path, content in zip(target, contents, strict=True):
            write_atomically(Path(str(path)), content)

    name = network.name
    names = (
        conf_header_name(name),
        f"{name}_reloc_pools.c",
        f"{name}_reloc.c",
        f"{name}_reloc.ld",
        f"{name}_reloc.json",
    )
    made = env.Command(
        [f"{folder}/{each}" for each in names], network.targets, stage_action("Reloc", make, stage="reloc")
    )
    env.Depends(made, env.Value([runtime.name, *runtime.version, secure], name="options"))
    env.Depends(made, library_files(env, *_FILES))
    env.Depends(made, [env.File(str(path)) for path in sorted(TEMPLATES.glob("reloc*.j2"))])
    return list(made)


def _binary(env: Any, folder: str, network: Any, elf: Any, description: Any) -> tuple[Any, Any | None]:
    raws = {Path(str(raw)).name: raw for raw in network.raws}
    network_folder = Path(network.folder)

    def parts(path: Any) -> Any:
        from n6build.reloc.description import read_description

        return read_description(Path(str(path))).params_parts(network_folder)

    def whole(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.reloc.binary import crc32_of, write_model
        from n6build.reloc.elf import read_linked_model
        from n6build.reloc.pools import params_chunks

        linked = read_linked_model(Path(str(source[0])), _map_of(source[0]))
        weights = parts(source[1])
        write_model(Path(str(target[0])), linked, params_chunks(weights), crc32_of(params_chunks(weights)))

    def alone(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.reloc.binary import model_file
        from n6build.reloc.elf import read_linked_model

        linked = read_linked_model(Path(str(source[0])), _map_of(source[0]))
        write_atomically(Path(str(target[0])), model_file(linked, None))

    def weights(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.reloc.pools import params_chunks

        write_chunks_atomically(Path(str(target[0])), params_chunks(parts(source[0])))

    target = f"{folder}/{network.name}_rel.bin"
    if not env["N6_RELOC_SPLIT"]:
        file = env.Command(target, [elf, description, *raws.values()], stage_action("Model", whole, stage="reloc"))
        env.Depends(file, library_files(env, *_BINARY))
        return file[0], None
    file = env.Command(target, [elf], stage_action("Model", alone, stage="reloc"))
    params = env.Command(
        f"{folder}/{network.name}_rel_params.bin",
        [description, *raws.values()],
        stage_action("Params", weights, stage="reloc"),
    )
    env.Depends([file, params], library_files(env, *_BINARY))
    return file[0], params[0]


def _map_of(elf: Any) -> Path:
    return Path(str(elf)).with_suffix(".map")


def _c_file(env: Any, target: str, file: Any) -> Any:
    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.reloc.c_file import c_array

        path = Path(str(source[0]))
        write_atomically(Path(str(target[0])), c_array(read_bytes(path), path.stem))

    made = env.Command(target, file, stage_action("Array", make, stage="reloc"))
    env.Depends(made, library_files(env, "reloc/c_file.py"))
    return made[0]


def _reloc_plan(env: Any, folder: str, models: list[RelocModel]) -> dict[str, list[Any]]:
    """As N6MemoryPlan: 'plan' (json, c), 'weights' (images of the models' flash slots) and 'vectors'."""
    from n6build.network.board_pools import external_regions
    from n6build.reloc.slots import model_slots, slots_at

    board, profile, networks = env["N6_BOARD"], env["N6_PROFILE"], [model.network for model in models]
    split, count, addresses = env["N6_RELOC_SPLIT"], env["N6_RELOC_SLOTS"], env["N6_RELOC_ADDRESSES"]
    load_mode = env["N6_LOAD_MODE"]
    sizes = {name: size for network in networks for name, size in network.model.network.pools.items()}
    try:
        if addresses and (len(models) > 1 or count > 1):
            what = f"'addresses' places one model in one slot, there are {len(models)} in {count} each"
            stop_with(N6Error("N6-SLOT-002", what, hint="leave it away, or slots=1 and a single model"))
        places = slots_at(board, addresses, split=split) if addresses else None
        slots = places or model_slots(board, len(models), slots=count, split=split)
        regions = external_regions(board, sizes)
    except N6Error as error:
        stop_with(error)
    files = [_slot_names(model.network.name, split=split, models=len(models)) for model in models]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.generated_c import models_source
        from n6build.memory_plan.plan import PlannedModel, compiled_network, make_reloc_plan, plan_json

        compiled = [compiled_network(network.model, network.folder, network.name) for network in networks]
        planned = [
            PlannedModel(network.name, *names, slots=tuple(places))
            for network, names, places in zip(networks, files, slots, strict=True)
        ]
        plan = make_reloc_plan(board, profile, compiled, regions, planned)
        for path, text in zip(target, (plan_json(plan), models_source(plan, board, load_mode)), strict=True):
            write_atomically(Path(str(path)), text)

    inputs = [env.File(str(network.model.inputs)) for network in networks if network.model.inputs]
    plan = env.Command(
        [f"{folder}/memory_plan.json", f"{folder}/n6_models.c"],
        [*(node for network in networks for node in network.targets), *inputs],
        stage_action("Plan", make, stage="plan"),
    )
    about = [f"{network.name} {network.model.name} {network.model.result}" for network in networks]
    env.Depends(plan, env.Value(" ".join([*about, profile, load_mode]), name="networks"))
    env.Depends(plan, env.Value(repr([sizes, slots, files]), name="slots"))
    env.Depends(plan, [env.File(str(path)) for path in board.files])
    env.Depends(plan, library_files(env, "memory_plan", "reloc/slots.py", "network", "boards.py", "soc.py"))
    env.Depends(plan, env.File(str(TEMPLATES / "n6_models.c.j2")))
    images = [
        image for model, names in zip(models, files, strict=True) for image in _slot_images(env, folder, model, names)
    ]
    return {"plan": list(plan), "weights": images, "vectors": env.N6VectorsImages(folder, networks)}


def _slot_names(name: str, *, split: bool, models: int) -> tuple[str, str]:
    """Of the files that are programmed: the model's and, where they are split off, those of its weights."""
    prefix = f"{name}_" if models > 1 else ""
    return f"{prefix}model.bin", f"{prefix}params.bin" if split else ""


def _slot_images(env: Any, folder: str, model: RelocModel, names: tuple[str, str]) -> list[Any]:
    described = model.network.model
    knows_outputs = model.network.backend == "reference"
    # With the weights, which make the outputs.
    tested = names[1] or names[0]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.files import read_in_chunks
        from n6build.reloc.description import read_description
        from n6build.reloc.reader import read_reloc_file
        from n6build.reloc.slots import NO_SELF_TEST, Identity, name_crc32, slot_chunks
        from n6build.reloc.verify import check_model

        description = read_description(Path(str(source[1])))
        name = Path(str(target[0])).name
        if name == names[0]:
            check_model(read_reloc_file(Path(str(source[0]))))
        test = self_test(description.outputs) if name == tested and described.inputs else NO_SELF_TEST
        content = read_in_chunks(Path(str(source[0])))
        identity = Identity(name_crc32(described.name), description.signature)
        write_chunks_atomically(Path(str(target[0])), slot_chunks(content, identity, test))

    def self_test(outputs: tuple[int, ...]) -> Any:
        """The first test vector. Only the reference backend promises the reference interpreter's very bytes."""
        from n6build.memory_plan.vectors import read_vectors, rows
        from n6build.reloc.slots import SelfTest, outputs_crc32

        first = rows(read_vectors(described.inputs))[0]
        if not described.expected or not knows_outputs:
            return SelfTest(first, None)
        return SelfTest(first, outputs_crc32(rows(read_vectors(described.expected))[0], outputs))

    vectors = [env.File(str(path)) for path in (described.inputs, described.expected) if path]
    images = []
    for name, file in zip(names, (model.file, model.params), strict=True):
        if file is not None:
            tests = vectors if name == tested else []
            images += env.Command(
                f"{folder}/{name}", [file, model.description, *tests], stage_action("Slot", make, stage="image")
            )
    env.Depends(images, env.Value([described.name, knows_outputs], name="model"))
    env.Depends(images, library_files(env, *_SLOT))
    return images
