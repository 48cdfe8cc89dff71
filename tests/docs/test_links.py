"""The links of the pages lead somewhere: to files that exist, and to headings that they have."""

import re
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT

PAGES = sorted([*PROJECT_ROOT.glob("*.md"), *PROJECT_ROOT.glob("docs/*.md"), *PROJECT_ROOT.glob("bridge/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(page: Path) -> str:
    """Return a page without its code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub names them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(prose(page))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT_ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Those within the project."""
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{link} names no file"
        assert not anchor or anchor in anchors(target), f"{link} names no heading"


def test_every_page_is_named_in_the_readme() -> None:
    """So that it is found."""
    linked = {link.partition("#")[0] for link in LINK.findall(prose(PROJECT_ROOT / "README.md"))}
    assert {f"docs/{page.name}" for page in (PROJECT_ROOT / "docs").glob("*.md")} <= linked
