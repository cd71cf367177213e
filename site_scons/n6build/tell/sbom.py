"""sbom.cdx.json: a CycloneDX bill of materials of the images of a flash manifest.

It follows from the provenance and the linker's maps alone: no dates, and a serial number made from
the content.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, License, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from n6build.base.files import to_json
from n6build.tell.linked import VENDORED, LinkedArchive
from n6build.tell.provenance import Material, Provenance

_MODELS = (".tflite", ".onnx")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:n6build:sbom")
_NOTICES = "as stated in notices.txt"


def sbom_json(
    application: str,
    provenance: Provenance,
    runtime: tuple[str, str],
    archives: Sequence[LinkedArchive],
    versions: Mapping[str, str],
) -> str:
    """Return the bill of materials as text, equal for equal values.

    Args:
        application: Name of the application.
        provenance: Provenance of the images.
        runtime: Owner of the linked ll_aton, 'n6build' or 'st', and its version.
        archives: Linked archives.
        versions: Versions of the compiler's libraries, by name.
    """
    bom = Bom()
    # By default the library takes the time of day and a random serial number.
    bom.metadata.timestamp = None  # type: ignore[assignment]
    bom.serial_number = uuid.uuid5(_NAMESPACE, _digest_of(provenance, archives))
    bom.metadata.component = Component(name=application, type=ComponentType.FIRMWARE, bom_ref="application")
    for tool in (each for each in provenance.materials if each.kind == "tool"):
        bom.metadata.tools.components.add(_component(tool.name, ComponentType.APPLICATION, tool.sha256))
    parts = [
        *(_component(name, ComponentType.FIRMWARE, digest) for name, digest in provenance.subjects.items()),
        *(_of_material(each) for each in provenance.materials if each.kind != "tool"),
        *_programs(provenance.builder, runtime),
        *_vendored(provenance.materials),
        *(_archive(each, versions.get(each.library.name, "")) for each in archives),
    ]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(bom.metadata.component, parts)
    # The library leaves the order of its output to sets.
    return to_json(_sorted(json.loads(JsonV1Dot6(bom).output_as_string())))


def _digest_of(provenance: Provenance, archives: Sequence[LinkedArchive]) -> str:
    subjects = sorted(provenance.subjects.items())
    materials = sorted((each.kind, each.name, each.sha256) for each in provenance.materials)
    linked = [(each.archive, each.members) for each in archives]
    return hashlib.sha256(json.dumps([subjects, materials, linked]).encode()).hexdigest()


def _component(name: str, kind: ComponentType, digest: str, licences: Sequence[License] = ()) -> Component:
    return Component(
        name=name,
        type=kind,
        bom_ref=f"{kind.value}:{name}:{digest[:12]}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=licences,
    )


def _of_material(material: Material) -> Component:
    is_model = material.name.endswith(_MODELS)
    return _component(
        material.name, ComponentType.MACHINE_LEARNING_MODEL if is_model else ComponentType.FILE, material.sha256
    )


def _programs(version: str, runtime: tuple[str, str]) -> list[Component]:
    ours = DisjunctiveLicense(id="Apache-2.0")
    name = "n6build firmware"
    purl = _purl("n6build", version)
    found = [
        Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=name, licenses=[ours], purl=purl)
    ]
    if runtime[0] == "st":
        name = "ll_aton (ST)"
        licence = DisjunctiveLicense(name=_NOTICES)
        found.append(
            Component(name=name, version=runtime[1], type=ComponentType.LIBRARY, bom_ref=name, licenses=[licence])
        )
    return found


def _vendored(materials: Sequence[Material]) -> Iterator[Component]:
    """Yield the third-party libraries whose sources are among the materials."""
    for each in VENDORED:
        if any(each.folder in material.name for material in materials):
            yield Component(
                name=each.name,
                version=each.version,
                type=ComponentType.LIBRARY,
                bom_ref=f"library:{each.name}",
                licenses=[DisjunctiveLicense(id=each.licence)],
                purl=_purl(each.package, each.version),
                cpe=_cpe(each.product, each.version),
            )


def _purl(package: str, version: str) -> PackageURL:
    return PackageURL("generic", name=package, version=version or None)


def _cpe(product: str, version: str) -> str:
    return f"cpe:2.3:a:{product}:{version or '*'}:*:*:*:*:*:*:*"


def _archive(linked: LinkedArchive, version: str) -> Component:
    library = linked.library
    licence: License = (
        LicenseExpression(library.expression) if library.expression else DisjunctiveLicense(name=_NOTICES)
    )
    return Component(
        name=library.name or linked.archive,
        version=version or None,
        type=ComponentType.LIBRARY,
        purl=_purl(library.package, version) if library.package else None,
        cpe=_cpe(library.product, version) if library.product else None,
        bom_ref=f"archive:{linked.archive}",
        licenses=[licence],
        properties=[
            Property(name="n6build:archive", value=linked.archive),
            Property(name="n6build:members", value=" ".join(linked.members)),
        ],
    )


def _sorted(value: object) -> object:
    """Sort lists by their text, and objects by their keys."""
    if isinstance(value, dict):
        return {name: _sorted(each) for name, each in sorted(value.items())}
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=lambda each: json.dumps(each, sort_keys=True))
    return value
