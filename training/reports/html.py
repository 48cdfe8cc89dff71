"""Pages of HTML that hold everything themselves: templates filled in, with figures in them."""

import base64
import io
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
from matplotlib.figure import Figure

_TEMPLATES = Path(__file__).parent.parent


def fill_in(template: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: Path of the template within ``training``.
        values: What it shows, by name; text is escaped.
    """
    loader = jinja2.FileSystemLoader(_TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(template).render(values)


def embedded(figure: Figure, kind: str = "svg") -> str:
    """Return a figure as a data URL."""
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):  # keep text as text
        figure.savefig(content, format=kind, dpi=110)
    mime = {"svg": "image/svg+xml", "png": "image/png"}[kind]
    return f"data:{mime};base64," + base64.b64encode(content.getvalue()).decode("ascii")
