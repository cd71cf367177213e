"""The networks as object files, for a program that somebody else links."""

from __future__ import annotations

from pathlib import Path

from n6build.base.paths import project_path
from n6build.plan.plan import Plan, make_plan
from n6build.plan.step import output_with, outputs_of
from n6build.steps.firmware import board_firmware, linked_networks
from n6build.steps.job import Job
from n6build.steps.memory_plan import memory_plan_step
from n6build.steps.network import network_steps

# Of firmware/bring_up and firmware/appli: what n6_network.h needs. A host has a start-up and a console of its own.
_BRING_UP = (
    "n6_axisram",
    "n6_cache",
    "n6_console",
    "n6_crc32",
    "n6_npu",
    "n6_pins",
    "n6_xspi",
    "n6_xspi_psram",
    "n6_clock",
)
_APPLI = ("n6_inference", "n6_memory", "n6_network", "n6_slot")


def host_network_plan(job: Job) -> Plan:
    """Goals: network; objects, with the linker script of the memory pools, all of it sources of a link. Raises what stage 1 and
    the memory plan raise."""
    networks = network_steps(job.folder, job.models, job.stage1)
    plan = memory_plan_step(job.folder, job.board, job.choices.profile, networks, job.runtime.identity)
    firmware = board_firmware(job.board_folder, job.board, job.toolchain, job.flags)
    parts = linked_networks(job.folder, firmware, job.runtime, networks, plan)
    objects = (
        *parts.stable,
        *(file for file in firmware.bring_up if Path(file).stem in _BRING_UP),
        *(file for file in outputs_of(parts.shared) if Path(file).stem in _APPLI),
        *parts.own,
        output_with(plan, ".ld"),
        *map(project_path, job.runtime.libraries),
    )
    return make_plan(
        [*(each.step for each in networks), plan, *firmware.steps, *parts.steps],
        {"network": tuple(file for each in networks for file in each.outputs), "objects": objects},
    )
