"""Pages in a real browser, if there is one."""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
BROWSER_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-quic", "--virtual-time-budget=10000"),
)
_SCRIPT = """<script>addEventListener("load", () => {
  const sizes = [...document.images].map(i => [i.alt, i.naturalWidth, i.naturalHeight, i.clientWidth]);
  const out = document.createElement("pre"); out.id = "sizes"; document.body.append(out);
  const width = document.documentElement.scrollWidth, background = getComputedStyle(document.body).backgroundColor;
  out.textContent = JSON.stringify({sizes, width, window: innerWidth, background}); });</script>"""


class _Addresses(HTMLParser):
    """Collects everything that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]


def addresses_in(content: str) -> list[str]:
    """Return the addresses of everything that a page would fetch."""
    addresses = _Addresses()
    addresses.feed(content)
    return addresses.found


def shown(page: Path, folder: Path, window: str, is_dark: bool = False) -> dict[str, Any]:
    """Return what a browser shows of a page.

    Args:
        page: File of the page.
        folder: Folder for a copy of it.
        window: Width and height of the window in pixels, such as "1280,720".
        is_dark: Whether the user prefers dark pages.

    Returns:
        "sizes": for each picture its name, width, height, and width on the page; "width" of the page; "window": width
        of the window; "background": colour behind the page.
    """
    copy = folder / "copy.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", _SCRIPT + "</body>"), encoding="utf-8")
    assert BROWSER is not None
    command = [BROWSER, *BROWSER_FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={window}"]
    command += ["--blink-settings=preferredColorScheme=0"] if is_dark else []
    run = subprocess.run([*command, "--dump-dom", copy.as_uri()], capture_output=True, text=True, timeout=50)
    match = re.search(r'<pre id="sizes">(.*?)</pre>', run.stdout)
    assert match, run.stderr[-500:]
    document: dict[str, Any] = json.loads(html.unescape(match[1]))
    return document
