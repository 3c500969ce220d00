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
