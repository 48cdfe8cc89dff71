"""Names of files that are also parts of addresses, on any system and web server."""

import re
from collections.abc import Sequence

_ODD = re.compile(r"[^a-z0-9_-]+")
MAX_NAME = 60  # characters
# What Windows takes for a device, whatever ending follows.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


def file_names(labels: Sequence[str]) -> list[str]:
    """Return a name without ending for each label: small letters, digits, - and _ alone, no two of them equal."""
    names: list[str] = []
    for label in labels:
        plain = _ODD.sub("-", label.lower()).strip("-")[:MAX_NAME]
        if not plain or plain in _DEVICES:
            plain = f"{plain}_"
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain}-{number}"
        names.append(name)
    return names
