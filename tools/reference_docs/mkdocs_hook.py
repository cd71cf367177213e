"""Hooks of MkDocs (`hooks` in mkdocs.yml) for the pages made from code.

They add these pages, check links into the repository, and leave out dates, so that equal input
gives an equal site. The search works on a site that is opened as a file.
"""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "tools", ROOT / "site_scons"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from mkdocs.structure.files import File, Files  # noqa: E402

from reference_docs.generated import pages  # noqa: E402
from reference_docs.links import broken, links_in, outside_code  # noqa: E402
from reference_docs.messages import errors_with_anchors  # noqa: E402

# With --strict a warning ends the build.
_LOG = logging.getLogger("mkdocs.hooks.reference_docs")
# These files are also read in the repository itself.
_READ_IN_PLACE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
# The site map would hold dates.
_SITE_MAP = "sitemap.xml"
# These templates and scripts replace those of the theme and of the search.
_THEME = Path(__file__).with_name("theme")


def on_config(config: Any) -> Any:
    """Add the boards to the navigation, and the project's own templates to the theme."""
    config.theme.dirs.insert(0, str(_THEME))
    config.theme.static_templates.discard(_SITE_MAP)
    generated = pages(ROOT)
    config.extra["generated"] = generated
    boards = [{posixpath.basename(name).removesuffix(".md"): name} for name in sorted(generated) if _is_board(name)]
    for section in config.nav:
        if isinstance(section, dict) and "Boards" in section:
            section["Boards"] += boards
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, which are never written to docs/."""
    if site_map := files.get_file_from_path(_SITE_MAP):
        files.remove(site_map)
    for name, text in config.extra["generated"].items():
        files.append(File.generated(config, name, content=text))
    return files


def on_pre_build(**_: Any) -> None:
    """Warn of broken links in the repository's own files."""
    for name in _READ_IN_PLACE:
        for target in links_in((ROOT / name).read_text(encoding="utf-8")):
            why = broken(ROOT, "", target)
            if why:
                _LOG.warning("%s: broken link: %s", name, why)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links into the repository into plain text, and warn of broken ones.

    The site does not contain the repository.
    """
    name = page.file.src_uri
    if name == "errors.md":
        markdown = errors_with_anchors(markdown)
    folder = posixpath.dirname(name)

    def plain(link: re.Match[str]) -> str:
        target = link["target"]
        place = posixpath.normpath(posixpath.join("docs", folder, target.partition("#")[0]))
        if re.match(r"[a-z]+:|#", target) or place.startswith("docs/"):
            return link[0]
        why = broken(ROOT, posixpath.join("docs", folder), target)
        if why:
            _LOG.warning("%s: broken link: %s", name, why)
        # The name of a file looks like one, also without a link.
        return f"`{link['text']}`" if re.fullmatch(r"[\w./-]+/[\w./-]+", link["text"]) else link["text"]

    return outside_code(markdown, plain)


def on_post_page(output: str, **_: Any) -> str:
    """Remove the comment with the date of the site."""
    return re.sub(r"<!--\s*MkDocs version.*?-->\s*", "", output, flags=re.DOTALL)


def on_post_build(config: Any) -> None:
    """Write the index of the search as a script.

    Pages that were opened as files may not load data, but they may load scripts.
    """
    folder = Path(config.site_dir, "search")
    index = folder / "search_index.json"
    folder.joinpath("search_index.js").write_text(
        f"const n6build_search = {index.read_text(encoding='utf-8')};\n", encoding="utf-8"
    )
    index.unlink()
    folder.joinpath("worker.js").unlink()


def _is_board(name: str) -> bool:
    return name.startswith("boards/") and name != "boards/index.md"
