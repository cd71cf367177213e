"""The generated headers of the kernels, for kernels and reference networks."""

from pathlib import Path

from n6build.compile.reference.kernel_headers import kernels_header, plain_kernels_header


def write_kernel_headers(folder: Path) -> Path:
    """Write the headers, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "n6_kernels.h").write_text(kernels_header())
    (folder / "n6_kernels_plain.h").write_text(plain_kernels_header())
    return folder
