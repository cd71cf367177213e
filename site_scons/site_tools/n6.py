"""SCons tool: env.N6Steps(plan) turns steps into nodes; env.N6Goals(plan) makes targets of its goals.

A step's signature is a text (n6build.plan.signature); SCons adds the contents of its sources, its templates and the headers that
it finds. Nodes are made from paths only here and in n6_nodes: SCons would substitute a `$` in a name given as text, and a
substitution can run code. For the same reason messages are functions, and commands are argument lists.

Construction variables: N6_BUILD (folder of all build products), N6_VERBOSE (whole command lines), N6_CACHE (a folder that several
checkouts share, or the address of a server), N6_CACHE_WRITE (whether what is made is stored there), N6_CACHE_LIMIT (bytes that
such a folder may have, 0 for any number), N6_REMOTE (address of a server whose workers do steps).
"""

from __future__ import annotations

import atexit
import sys
from pathlib import Path
from typing import Any

# Of this file's own checkout, whatever else is installed; who embeds n6build need know no more than the folder of its tools.
# SCons takes the path away after this module: what other tools import later, too, is imported here. An installed package has
# its tools inside the library, and is on the path already.
_library = Path(__file__).resolve().parents[1]
if _library.name != "n6build":
    sys.path.insert(0, str(_library))

from n6_ready import ready

with ready():
    import n6host  # noqa: F401
    from n6_cache import use_cache
    from n6_nodes import file_node, has_changed, header_scanner, node_name
    from n6build.base.environment import read_environment
    from n6build.plan.explain import State, statuses
    from n6build.plan.known_code import keep_known_code, known_code
    from n6build.plan.known_files import keep_known_files, remember_known_files
    from n6build.plan.ledger import read_ledger
    from n6build.plan.lock import locked_build_folder
    from n6build.plan.perform import Site, is_current, taken_over
    from n6build.plan.plan import Plan, joined
    from n6build.plan.progress import forget_error, say_times, shown_line
    from n6build.plan.signature import signature
    from n6build.plan.step import Step
    from n6scons import failing_build, in_top, last_words, may_write, ready_to_print, reported
    from SCons.Action import FunctionAction
    from SCons.Environment import Environment
    from SCons.Script import SetOption

# SCons has wrapped the others.
ready_to_print(sys.__stdout__, sys.__stderr__)


def generate(env: Any) -> None:
    """Adds N6Steps, N6Goals and N6Site to the environment, with all that projects that embed n6build need besides. SCons calls
    this for tools=['n6']."""
    env.SetDefault(N6_BUILD="build", N6_VERBOSE=False, N6_CACHE="", N6_CACHE_WRITE=True, N6_CACHE_LIMIT=0, N6_REMOTE="")
    env.AddMethod(in_top(_steps), "N6Steps")
    env.AddMethod(in_top(_goals), "N6Goals")
    env.AddMethod(in_top(site_of), "N6Site")
    for tool in ("n6_application", "n6_builders", "n6_on_board", "n6_compile_commands"):
        env.Tool(tool, toolpath=[str(Path(__file__).parent).replace("$", "$$")])


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def site_of(env: Any) -> Site:
    """Where the steps of an environment are done; shared by all environments that build into the same folder."""
    build = env.fs.Dir(env["N6_BUILD"], env.fs.Top)
    if not hasattr(build.attributes, "n6_site"):
        folder = Path(build.get_abspath())
        top = Path(env.fs.Top.get_abspath())
        if may_write():
            with reported(env):
                build.attributes.n6_lock = locked_build_folder(folder)
            forget_error(folder)
        with reported(env):
            ledger = read_ledger(folder, may_write=may_write())
        remember_known_files(folder)
        site = Site(top, folder, known_code(folder), ledger, dict(read_environment().commands))
        build.attributes.n6_site = site
        # Functions are called in the reverse order.
        atexit.register(_at_the_end, site)
        if env["N6_REMOTE"] and may_write():
            with reported(env):
                _use_remote(env["N6_REMOTE"], site)
    return build.attributes.n6_site  # type: ignore[no-any-return]


def _use_remote(text: str, site: Site) -> None:
    """More steps are begun than this machine could do: most of them wait for others. -j on the command line takes precedence."""
    from n6build.remote.executor import JOBS, use_remote

    executor = use_remote(text, site)
    if executor is not None:
        SetOption("num_jobs", JOBS)
        atexit.register(last_words()(executor.finish))


def _steps(env: Any, plan: Plan) -> dict[str, Any]:
    """Path -> node, for all outputs. Existing steps are left as they are, since plans may share some."""
    site = site_of(env)
    with reported(env):
        site.plan = joined([site.plan, plan])
    own = Environment(tools=[], SCANNERS=[])
    own.Decider(has_changed)
    with reported(env):
        use_cache(own, str(env["N6_CACHE"]), may_write=env["N6_CACHE_WRITE"], limit=env["N6_CACHE_LIMIT"])
        found = statuses(plan, site.ledger, site.code, str(site.top))
    nodes: dict[str, Any] = {}
    compiling: dict[tuple[str, ...], Any] = {}
    for step, state in ((each.step, each.state) for each in found):
        if step.depfile and step.include_folders not in compiling:
            folders = [own.fs.Dir(node_name(path), own.fs.Top) for path in step.include_folders]
            compiling[step.include_folders] = own.Clone(CPPPATH=folders)
        made = _nodes(compiling.get(step.include_folders, own) if step.depfile else own, step, state, site, env)
        nodes |= dict(zip(step.outputs, made, strict=True))
    return nodes


def _nodes(own: Any, step: Step, state: State, site: Site, env: Any) -> list[Any]:
    made = [file_node(own, output) for output in step.outputs]
    known = getattr(made[0].attributes, "n6_step", None)
    if known is not None:
        return made
    scanner = {"source_scanner": header_scanner()} if step.depfile else {}
    action = _StepAction(step, site, verbose=env["N6_VERBOSE"])
    own.Command(made, [file_node(own, source) for source in step.sources], action, **scanner)
    if step.templates:
        own.Depends(made, [file_node(own, template) for template in step.templates])
    if step.after:
        own.Requires(made, [file_node(own, before) for before in step.after])
    if step.depfile:
        own.Clean(made, file_node(own, step.depfile))
    if not step.shared:
        own.NoCache(made)
    # They are removed when the step begins, and not if they turn out to be up to date.
    own.Precious(made)
    is_to_do = state == "to do" and step.name in site.ledger.entries
    if is_to_do and (objections := site.ledger.objections(step)):
        site.noticed[step.name] = objections
    # SCons would accept an altered output as up to date, and one that its database is older than.
    if step.always or is_to_do:
        own.AlwaysBuild(made)
    for node in made:
        node.attributes.n6_step, node.attributes.n6_site = step, site
    return made


def _goals(env: Any, plan: Plan) -> None:
    """Makes a target for every goal of the plan."""
    for name, outputs in plan.goals.items():
        env.Alias(name.replace("$", "$$"), [file_node(env, output) for output in outputs])


class _StepAction(FunctionAction):  # type: ignore[misc]
    """SCons would sign the bytecode of a callable; the signature is given as a text instead."""

    def __init__(self, step: Step, site: Site, *, verbose: bool) -> None:
        # Without the real function, whose closure it would examine at length.
        super().__init__(_nothing, {})
        self.execfunction = _Work(step, site)
        self._step, self._site = step, site
        self._signature = signature(step, site.code, str(site.top)).encode()
        self._verbose = verbose

    def strfunction(self, target: Any, source: Any, env: Any, executor: Any = None) -> str | None:
        return None if is_current(self._step, self._site) else shown_line(self._step, verbose=self._verbose)

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        return self._signature


def _nothing() -> None:
    """A placeholder for the function that is not to be signed."""


class _Work:
    def __init__(self, step: Step, site: Site) -> None:
        self._step, self._site = step, site

    def __call__(self, target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.plan.local import do_step

        def headers() -> list[str]:
            return [child.get_abspath() for child in target[0].children()]

        with failing_build(target[0], self._site.build):
            # What the command line has made is not made again; SCons enters it into its database.
            if not taken_over(self._step, self._site, headers):
                do_step(self._step, self._site, headers=headers)


def _at_the_end(site: Site) -> None:
    with last_words():
        if may_write():
            say_times(site)
            keep_known_code(site.code, site.build)
            keep_known_files(site.build)
