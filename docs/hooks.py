"""Hooks of MkDocs: pages that stand at the top of the repository, and the pages of the codes in the navigation.

In: the configuration, and the files of the site. Out: the files with those pages. Links between the documents lead to each
other on the site as they do in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
SHIM = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
"""What the theme fetches for the search in pages that are opened as files."""
BOOSTS = {
    "howto/": 2,
    "tutorials/": 2,
    "coming-from": 2,
    "explain": 2,
    "cache": 2,
    "errors/coming-from": 0.5,
    "benchmarks": 0.3,
    "maintainers/": 0.2,
    "changelog": 0.2,
}
"""How much a page counts in the search, by how its path begins."""
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages of the top of the repository."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=re.sub(r"\]\(docs/", "](", text)))
    return files


def on_config(config: Any) -> Any:
    """Puts the page of each code below that of all codes."""
    codes = sorted(path.name for path in (ROOT / "docs" / "errors").glob("PS*.md"))
    for section in config["nav"]:
        for entry in section.get("Reference", []):
            if "Errors" in entry:
                entry["Errors"] += [{Path(code).stem: f"errors/{code}"} for code in codes]
    return config


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Puts our own script in place of the one that is fetched."""
    assert SHIM in output, "the theme has changed"
    base = "../" * page.url.count("/")
    return output.replace(SHIM, f'<script src="{base}assets/worker.js"></script>')


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """The same for the page that a server shows where there is none."""
    return output.replace(SHIM, '<script src="/assets/worker.js"></script>')


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> None:
    """The search puts pages that say how to do something before measurements and what maintainers wrote."""
    for start, boost in BOOSTS.items():
        if page.file.src_uri.startswith(start):
            page.meta["search"] = {"boost": boost}
