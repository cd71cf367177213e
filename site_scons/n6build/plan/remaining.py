"""What a build system still has to look at: a step that is up to date, like all that it needs, would be done for nothing."""

from __future__ import annotations

from n6build.plan.explain import statuses
from n6build.plan.perform import Site
from n6build.plan.plan import Plan, needs_of
from n6build.plan.step import Step


def remaining(plan: Plan, site: Site) -> Plan:
    """The plan without steps of which the ledger knows that they are up to date: what they have made is there, as the sources of
    others are. A step remains if one does that has to be done before it, even where nothing of it is read: nobody else may ask
    for that one. Compilations remain if no build has found their headers beforehand, since that is still to be checked. Nothing
    is written."""
    left: list[Step] = []
    made: set[str] = set()
    for each in statuses(plan, site.ledger, site.code, str(site.top)):
        step = each.step
        is_known = each.state == "up to date" and site.ledger.entries[step.name].is_foreseen
        if not is_known or not made.isdisjoint(needs_of(step)):
            left.append(step)
            made.update(step.outputs)
    return Plan(tuple(left), plan.goals)
