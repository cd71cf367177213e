"""Names of an application's networks: of their files and, if possible, symbols."""

from __future__ import annotations

import re
from collections.abc import Sequence

from n6build.base.errors import N6Error
from n6build.describe.compiled_folder import find_network
from n6build.describe.model import Model

SINGLE = "network"


def network_names(models: Sequence[Model]) -> list[str]:
    """Return the names of the networks of an application.

    A single network is called `network`, as ST's tool does; several are called after their models,
    as C identifiers. network.name in model.yaml takes precedence, and a prebuilt network keeps its
    name.

    Raises:
        N6Error: N6-NET-023 if two have the same name; N6-PRE-00x for a prebuilt network that cannot
            be used.
    """
    names = [_name(model, alone=len(models) == 1) for model in models]
    for number, name in enumerate(names):
        if name in names[:number]:
            what = f"two networks of the application have the name '{name}'"
            raise N6Error("N6-NET-023", what, where=models[number].name, hint=_other_name(models[number]))
    return names


def _other_name(model: Model) -> str:
    """Return a hint how to rename; a compiled network keeps its compiler's name."""
    return "compile one of them again with --name" if model.prebuilt else "set network.name in model.yaml"


def _name(model: Model, *, alone: bool) -> str:
    if model.prebuilt:
        return find_network(model.prebuilt, model.network.name).name
    if model.network.name:
        return model.network.name
    return SINGLE if alone else re.sub(r"\W", "_", re.sub(r"^(?=\d)", "n", model.name), flags=re.ASCII)
