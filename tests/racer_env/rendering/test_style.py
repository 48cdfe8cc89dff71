"""The colours that the window shares with the page."""

import pytest

from racer_env.rendering import COLOURS, style
from racer_env.rendering.style import Colour


def luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour. Source: WCAG 2.2."""
    red, green, blue = (c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast of two colours, from 1 to 21. Source: WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", COLOURS)
def test_what_is_written_on_the_panel_is_legible(colours: str) -> None:
    """In either scheme, as WCAG asks of small text."""
    palette = style.PALETTES[colours]
    for name in ("text", "text_dim", "ahead", "behind"):
        assert contrast(getattr(palette, name), palette.panel) >= 4.5, name
