"""SCons tool: env.N6AppHeaders(folder, network) -> app_config.h and app_buffers.h, where the model describes its application."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.files import write_atomically
from n6build.paths import TEMPLATES
from n6scons import library_files, stage_action


def generate(env: Any) -> None:
    env.AddMethod(_app_headers, "N6AppHeaders")


def exists(env: Any) -> bool:
    return True


def _app_headers(env: Any, folder: str, network: Any) -> list[Any]:
    """network: one of N6Networks. Nothing where its model.yaml has no key 'application'."""
    model = network.model
    if model.application is None:
        return []

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.application.activation_buffers import buffers_header
        from n6build.application.app_config import app_config
        from n6build.network.read_artifacts import read_artifacts

        artifacts = read_artifacts(network.folder, network.name)
        write_atomically(Path(str(target[0])), app_config(model.application, model.classes, artifacts))
        write_atomically(Path(str(target[1])), buffers_header(artifacts.pools, artifacts.inputs))

    names = [f"{folder}/{name}" for name in ("app_config.h", "app_buffers.h")]
    header = env.Command(names, network.targets, stage_action("Header", make, stage="header"))
    env.Depends(header, env.Value(repr((model.application, model.classes)), name="application"))
    env.Depends(header, env.File(str(TEMPLATES / "app_config.h.j2")))
    env.Depends(header, library_files(env, "application", "network/artifacts.py", "network/c_info_reader.py"))
    return list(header)
