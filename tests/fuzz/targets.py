"""Every parser of outside data in site_scons/n6build."""

from __future__ import annotations

from fuzz.boards import BOARDS
from fuzz.captures import CAPTURES
from fuzz.descriptions import DESCRIPTIONS
from fuzz.networks import NETWORKS
from fuzz.plans import PLANS
from fuzz.programs import PROGRAMS
from fuzz.projects import PROJECTS
from fuzz.records import RECORDS
from fuzz.target import Target

TARGETS: dict[str, Target] = {
    each.name: each for each in (*NETWORKS, *DESCRIPTIONS, *PROGRAMS, *BOARDS, *RECORDS, *PLANS, *PROJECTS, *CAPTURES)
}
