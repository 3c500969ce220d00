"""A page in a real browser: headless Chromium, driven by a script in the page."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OUTCOME = "outcome-of-the-test"


def chromium() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def outcome(browser: str, page: str, script: str, folder: Path, fragment: str = "") -> Any:
    """What `script`, the body of a function, returns in the page; without a network."""
    reporting = (
        "<script>window.addEventListener('load', () => {"
        " let found; try { found = {value: (() => {" + script + "})()}; }"
        " catch (error) { found = {error: String(error)}; }"
        f" const told = document.createElement('pre'); told.id = '{_OUTCOME}';"
        " told.textContent = JSON.stringify(found); document.body.append(told); });</script>"
    )
    file = folder / "page.html"
    file.write_text(page.replace("</body>", reporting + "</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--proxy-server=127.0.0.1:9",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1600,900",
            "--virtual-time-budget=4000",
            "--dump-dom",
            file.as_uri() + fragment,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOME": str(folder)},
    )
    told = re.search(rf'<pre id="{_OUTCOME}">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told, f"the browser says nothing: {done.stderr[-2000:]}"
    found = json.loads(html.unescape(told[1]))
    assert "error" not in found, found["error"]
    return found["value"]
