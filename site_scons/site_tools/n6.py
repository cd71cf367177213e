"""SCons tool n6: steps as nodes, and goals as targets.

env.N6Steps(plan) turns steps into nodes; env.N6Goals(plan) makes a target of each goal.

SCons schedules the nodes, and asks the engine (n6build.engine.perform) which of them are up to date.
Nodes are made from paths only here and in n6_nodes: SCons would substitute a `$` in a name given as
text, and a substitution can run code. For the same reason messages are functions, and commands are
argument lists.

Construction variables: N6_BUILD (folder of all build products), N6_VERBOSE (whether to show whole
command lines), N6_CACHE (a folder that several checkouts share, or the address of a server),
N6_CACHE_WRITE (whether outputs are stored there), N6_CACHE_LIMIT (bytes that such a folder may
have, 0 for any number), N6_REMOTE (address of a server whose workers do steps).
"""

from __future__ import annotations

import atexit
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# The library of this file's own checkout is used, whatever else is installed: a host project only names the folder of the
# tools. SCons removes the path after this module, so modules that other tools import later are imported here as well. An
# installed package has its tools inside the library, and is on the path already.
_library = Path(__file__).resolve().parents[1]
if _library.name != "n6build":
    sys.path.insert(0, str(_library))

from n6_ready import ready

with ready():
    import n6host  # noqa: F401
    from n6_nodes import file_node, step_nodes
    from n6build.base.environment import read_environment
    from n6build.engine.known_files import keep_known_code, keep_known_files, known_code, remember_known_files
    from n6build.engine.ledger import read_ledger
    from n6build.engine.lock import locked_build_folder
    from n6build.engine.perform import Site
    from n6build.engine.plan import Plan, joined
    from n6build.engine.progress import announce_lines, forget_error, say_times
    from n6scons import in_top, last_words, may_write, ready_to_print, reported
    from SCons.Environment import Environment
    from SCons.Script import GetOption, SetOption

# SCons has wrapped sys.stdout and sys.stderr.
ready_to_print(sys.__stdout__, sys.__stderr__)


def generate(env: Any) -> None:
    """Add N6Steps, N6Goals and N6Site to the environment, and the tools for hosts.

    SCons calls this for tools=['n6'].
    """
    env.SetDefault(N6_BUILD="build", N6_VERBOSE=False, N6_CACHE="", N6_CACHE_WRITE=True, N6_CACHE_LIMIT=0, N6_REMOTE="")
    env.AddMethod(in_top(_steps), "N6Steps")
    env.AddMethod(in_top(_goals), "N6Goals")
    env.AddMethod(in_top(site_of), "N6Site")
    for tool in ("n6_application", "n6_builders", "n6_on_board", "n6_compile_commands"):
        env.Tool(tool, toolpath=[str(Path(__file__).parent).replace("$", "$$")])


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def site_of(env: Any) -> Site:
    """Return the site where the steps of an environment are done.

    All environments that build into the same folder share it.
    """
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
        # Functions of atexit are called in the reverse order.
        atexit.register(_at_the_end, site)
        if not GetOption("silent"):
            announce_lines(site, verbose=env["N6_VERBOSE"])
    return build.attributes.n6_site  # type: ignore[no-any-return]


def _share(env: Any, site: Site) -> None:
    """Share steps with the cache and the workers that the environment names.

    Option -j on the command line takes precedence over the number of steps that the workers allow.
    """
    if not may_write() or (site.cache, site.elsewhere) != (None, None):
        return
    from n6build.engine.remote.shared import Sharing, shared_steps

    options = Sharing(
        cache="" if GetOption("cache_disable") else str(env["N6_CACHE"]),
        cache_write=env["N6_CACHE_WRITE"] and not GetOption("cache_readonly"),
        cache_limit=env["N6_CACHE_LIMIT"],
        remote=env["N6_REMOTE"],
    )
    if options.cache or options.remote:
        sharing = ExitStack()
        with reported(env):
            jobs = sharing.enter_context(shared_steps(site, options))
        atexit.register(last_words()(sharing.close))
        if jobs is not None:
            SetOption("num_jobs", jobs)


def _steps(env: Any, plan: Plan) -> dict[str, Any]:
    """Return the nodes of all outputs of a plan, by path.

    Existing steps are left as they are, since plans may share some.
    """
    site = site_of(env)
    _share(env, site)
    with reported(env):
        site.plan = joined([site.plan, plan])
    own = Environment(tools=[], SCANNERS=[])
    nodes: dict[str, Any] = {}
    for step in plan.steps:
        nodes |= dict(zip(step.outputs, step_nodes(own, step, site, verbose=env["N6_VERBOSE"]), strict=True))
    return nodes


def _goals(env: Any, plan: Plan) -> None:
    """Make a target for every goal of the plan."""
    for name, outputs in plan.goals.items():
        env.Alias(name.replace("$", "$$"), [file_node(env, output) for output in outputs])


def _at_the_end(site: Site) -> None:
    with last_words():
        if may_write():
            say_times(site)
            keep_known_code(site.code, site.build)
            keep_known_files(site.build)
