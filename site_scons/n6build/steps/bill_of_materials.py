"""Step for sbom.cdx.json, the bill of materials beside the flash manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import RuntimeVersion
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.linked import linked_archives
from n6build.tell.provenance import read_provenance


@dataclass(frozen=True)
class BillOfMaterialsParameters:
    """Parameters of the step.

    Attributes:
        application: Name of the application.
        runtime: Linked runtime.
        libraries: Versions of the compiler's libraries, by name.
    """

    application: str
    runtime: RuntimeVersion
    libraries: dict[str, str]


def bill_of_materials_step(
    output: str,
    application: str,
    provenance: str,
    maps: Sequence[str],
    runtime: RuntimeVersion,
    libraries: Mapping[str, str],
) -> Step:
    """Return the step that writes the bill of materials.

    Args:
        output: Path of sbom.cdx.json.
        application: Name of the application.
        provenance: Path of provenance.json.
        maps: Linker maps of this project's programs.
        runtime: Linked runtime.
        libraries: Versions of the compiler's libraries, by name.
    """
    return Step(
        verb="Bill",
        stage="origin",
        outputs=(output,),
        sources=(provenance, *maps),
        parameters=to_parameters(BillOfMaterialsParameters(application, runtime, dict(libraries))),
        function="n6build.steps.bill_of_materials:make_bill_of_materials",
    )


def make_bill_of_materials(call: Call) -> None:
    """Write the bill of materials."""
    from n6build.tell.sbom import sbom_json  # noqa: PLC0415 - planning needs no library for bills.

    given = call.parameters_as(BillOfMaterialsParameters)
    provenance, *maps = call.sources
    runtime = given.runtime.name, version_text(given.runtime.version)
    text = sbom_json(given.application, read_provenance(provenance), runtime, linked_archives(maps), given.libraries)
    write_atomically(call.outputs[0], text)
