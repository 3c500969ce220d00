"""Tries the built site in headless Chromium: `make test-site`.

In: `build/site`. Out: what is wrong with its pages, and pictures of some of them in `build/screenshots`. Each page must load
without an error in the console and without a request that leaves the machine, link to what there is, fit into a window
of 400 pixels (what is wide scrolls in its own box), and have enough contrast in both schemes. The search must find what the
documentation is about, also in pages that are opened as files.
"""

from __future__ import annotations

import base64
import functools
import http.server
import json
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
PICTURES = ROOT / "build" / "screenshots"
WIDE, NARROW = 1280, 400
SCHEMES = ("default", "slate")
SHOWN = ("index", "quickstart", "tutorials/numpy-script", "errors/PS401", "reference/api", "support")
SEARCHES = {
    "while_loop": "tutorials/jax-function",
    "PS401": "errors/PS401",
    "explain": "explain",
    "cache": "cache",
}
"""What a reader looks for, and the page that must be among the first results."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
)
WIDER = """
const width = document.documentElement.clientWidth, found = []
if (document.documentElement.scrollWidth > width || document.body.scrollWidth > width) found.push("the page")
for (const each of document.querySelectorAll(".md-content *")) {
  let box = each, scrolls = false
  for (; !box.matches(".md-content") && !scrolls; box = box.parentElement)
    scrolls = !/visible|clip/.test(getComputedStyle(box).overflowX)
  if (!scrolls && each.getBoundingClientRect().right > width + 1) found.push(each.outerHTML.slice(0, 80))
}
return found.slice(0, 3)
"""
PALE = """
const number = text => text.match(/[\\d.]+/g).map(Number)
const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
const over = (top, below) => [0, 1, 2].map(i => top[i] * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)))
const paper = each =>
  each ? over(number(getComputedStyle(each).backgroundColor), paper(each.parentElement)) : [255, 255, 255]
const found = new Map()
for (const each of document.querySelectorAll(".md-content *, .md-sidebar *, .md-header *, .md-tabs *")) {
  if (![...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue
  if (!each.checkVisibility({opacityProperty: true, visibilityProperty: true}) || each.closest(".headerlink, svg")) continue
  const below = paper(each), above = over(number(getComputedStyle(each).color), below)
  const [a, b] = [light(above), light(below)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05)
  const words = each.textContent.trim().slice(0, 40)
  if (ratio < 4) found.set(each.className + "/" + each.tagName, ratio.toFixed(1) + " " + words)
}
return [...found].slice(0, 4).map(pair => pair.join(": "))
"""


class Links(HTMLParser):
    """What a page names and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in {"a", "link", "script", "img"}:
            self.targets |= {given[name] for name in ("href", "src") if name in given}


def broken(pages: dict[str, Links]) -> Iterator[str]:
    """The links within the site that lead nowhere, and what is fetched from elsewhere."""
    for page, links in pages.items():
        for target in sorted(links.targets):
            parts = urlsplit(urljoin(f"http://site/{page}", target))
            if parts.netloc != "site" or parts.scheme not in {"http", "https"}:
                continue
            path = unquote(parts.path).removeprefix("/")
            file = SITE / path
            if not file.is_file():
                yield f"{page}: {target} leads nowhere"
            elif path in pages and unquote(parts.fragment) not in pages[path].anchors:
                yield f"{page}: {target} names no heading"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that does not log."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """The address of the site on this machine."""
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


class Browser:
    """Chromium, what it asked for and what it complains of."""

    def __init__(self, chromium: str, driver: str, profile: str) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.add_argument("--force-prefers-reduced-motion")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.get("about:blank")
        self.driver.get_log("performance")  # requests of the browser's own first page

    def open(self, address: str, width: int) -> None:
        self.resize(width)
        self.driver.get(address)

    def resize(self, width: int) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def scheme(self, name: str) -> None:
        """Presses the button that changes the scheme, if another one is shown."""
        shown = "return document.body.dataset.mdColorScheme"
        if self.driver.execute_script(shown) != name:
            press = "[...document.querySelectorAll('.md-header__option label')].find(l => !l.hidden).click()"
            self.driver.execute_script(press)
            WebDriverWait(self.driver, 5).until(lambda driver: driver.execute_script(shown) == name)

    def complaints(self, here: str) -> Iterator[str]:
        """Errors in the console and requests that leave the machine, since the last time."""
        for entry in self.driver.get_log("browser"):
            if entry["level"] in {"SEVERE", "WARNING"}:
                yield f"in the console: {entry['message']}"
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if not address.startswith((here, "data:", "blob:")):
                    yield f"asks for {address}"

    def wrong(self, script: str) -> list[str]:
        return list(self.driver.execute_script(script))

    def found(self, words: str) -> list[str]:
        """The addresses of the results of a search, best first."""
        self.driver.execute_script(
            "document.querySelector('#__search').click(); const box = document.querySelector('.md-search__input');"
            "box.focus(); box.value = arguments[0]; box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))"
            "; box.dispatchEvent(new Event('input', {bubbles: true}))",
            words,
        )
        links = "return [...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
        WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(links))
        return list(self.driver.execute_script(links))

    def picture(self, name: str) -> None:
        told = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (PICTURES / f"{name}.png").write_bytes(base64.b64decode(told["data"]))


def complaints(browser: Browser, here: str, pages: list[str]) -> Iterator[str]:
    """What is wrong with the pages, and with the search."""
    for page in pages:
        browser.open(here + page, WIDE)
        for scheme in SCHEMES:
            browser.scheme(scheme)
            for width in (WIDE, NARROW):
                browser.resize(width)
                if page.removesuffix(".html") in SHOWN:
                    browser.picture(f"{Path(page).stem}-{width}-{scheme}")
                if scheme == SCHEMES[0]:
                    yield from (f"{page}: {width} pixels do not hold {what}" for what in browser.wrong(WIDER))
            yield from (f"{page}: hardly read in {scheme}: {what}" for what in browser.wrong(PALE))
        yield from (f"{page}: {what}" for what in browser.complaints(here))
    for start in (here, f"{SITE.as_uri()}/"):
        for words, wanted in SEARCHES.items():
            browser.open(f"{start}index.html", WIDE)
            found = browser.found(words)
            if not any(each.startswith(f"{start}{wanted}.html") for each in found[:10]):
                yield f"{start}: the search for {words} finds {found[:10]}, not {wanted}"
            if start == here:
                browser.picture(f"search-{re.sub(r'[^A-Za-z0-9]', '-', words)}")
        yield from (f"{start}: {what}" for what in browser.complaints(start))


def main() -> int:
    """1 if something is wrong."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        print("skipped: there is no chromium or no chromedriver (Debian: chromium, chromium-driver)")
        return 0
    PICTURES.mkdir(parents=True, exist_ok=True)
    pages = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if path.name != "404.html")
    wrong = list(broken({page: Links((SITE / page).read_text(encoding="utf-8")) for page in pages}))
    with served() as here, tempfile.TemporaryDirectory() as profile:
        browser = Browser(chromium, driver, profile)
        try:
            wrong += complaints(browser, here, pages)
        finally:
            browser.driver.quit()
    print("\n".join(wrong) or f"{len(pages)} pages are good; pictures: {PICTURES.relative_to(ROOT)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
