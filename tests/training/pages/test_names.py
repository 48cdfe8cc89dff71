"""Names of a page's files: parts of addresses anywhere, and files on any system."""

import re

from training.pages.names import file_names


def test_names_are_plain() -> None:
    """Whatever the labels hold."""
    labels = ["ppo_run_1_best", "My Road (2)", "a/driver", "straße", "ыы", "", "../..", "CON", "x" * 300]
    names = file_names(labels)
    assert names[:4] == ["ppo_run_1_best", "my-road-2", "a-driver", "stra-e"]
    assert all(re.fullmatch(r"[a-z0-9_-]{1,60}", name) for name in names)
    assert "con" not in names


def test_no_two_names_are_equal() -> None:
    """Also where a system takes large and small letters for the same."""
    assert file_names(["Road", "road", "road-2", "road"]) == ["road", "road-2", "road-2-2", "road-3"]
