"""Bridges that ``training.parity`` has found equal: those of version 1 of the protocol do not tell their physics."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from racer_env.physics import load_physics
from training.console.arguments import LOGS_DIR

RECORD = LOGS_DIR / "parity.json"


def remember(url: str, is_equal: bool) -> Path | None:
    """Remember that a bridge was found equal to the simulator with its physics of now, or forget it; return the file.

    Args:
        url: URL of the bridge.
        is_equal: Whether the bridge was equal on all tracks that were compared.

    Raises:
        OSError: The file cannot be written.
    """
    known = _read()
    if not is_equal and url not in known:
        return None
    known.pop(url, None)
    if is_equal:
        found = datetime.now(UTC).isoformat(timespec="seconds")
        known[url] = {"physics_fingerprint": load_physics().fingerprint, "found": found}
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.unlink(missing_ok=True)  # nothing is written through a link
    RECORD.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    return RECORD


def were_equal(urls: Sequence[str], physics: str) -> bool:
    """Return whether all of these bridges were found equal to the simulator with these physics."""
    known = _read()
    return all(known.get(url, {}).get("physics_fingerprint") == physics for url in urls)


def _read() -> dict[str, dict[str, str]]:
    try:
        document = read_json(RECORD, ConfigError, "record of equal bridges")
    except ConfigError:  # it is missing, or damaged: nothing is known
        return {}
    entries = document.items() if isinstance(document, dict) else ()
    return {url: entry for url, entry in entries if isinstance(entry, dict)}
