"""URLs of bridges, and the environment variable that holds the default."""

import ipaddress
import os
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from racer_env.errors import ConfigError

DEFAULT_URL = "ws://127.0.0.1:9876"
BRIDGE_URL_VARIABLE = "RACER_BRIDGE_URL"
EMBEDDED = "embedded"  # instead of a URL: the embedded simulator
AUTO = "auto"  # instead of a URL: the bundled bridge, running for as long as it is used
PROBE_SECONDS = 0.05  # enough on the loopback, where a closed port may not answer
EXPECTED = f"expected something like {DEFAULT_URL}, or {AUTO!r} or {EMBEDDED!r}"


def bridge_urls(wanted: str | Sequence[str] | None, default: str = EMBEDDED) -> list[str]:
    """Return the URLs of the wanted bridges; an empty list is the embedded simulator.

    Args:
        wanted: One or more URLs, where ``"auto"`` is the bundled bridge and ``"embedded"`` no bridge; None reads the
            environment variable, which may hold several separated by blanks.
        default: What None means if the variable is not set.

    Raises:
        ConfigError: Both bridges and the embedded simulator are wanted, or a URL is wrong.
    """
    if wanted is None:
        wanted = os.environ.get(BRIDGE_URL_VARIABLE, "").split() or default
    urls = [wanted] if isinstance(wanted, str) else list(wanted)
    if urls == [EMBEDDED]:
        return []
    if EMBEDDED in urls:
        raise ConfigError(f"expected bridges or {EMBEDDED!r}, not both; got {' '.join(urls)}")
    for url in urls:
        if url != AUTO:
            parse_url(url)
    return urls


def unused_bridge(wanted: str | Sequence[str] | None) -> str | None:
    """Return a sentence if a bridge listens at the usual place while nobody has said which engine is wanted.

    Args:
        wanted: As for ``bridge_urls``.
    """
    if wanted is not None or os.environ.get(BRIDGE_URL_VARIABLE):
        return None
    with socket.socket() as probe:
        probe.settimeout(PROBE_SECONDS)
        if probe.connect_ex(parse_url(DEFAULT_URL)) != 0:
            return None
    return (
        f"something listens at {DEFAULT_URL}, where a game's bridge usually is, and the embedded simulator is used; "
        f"to use the bridge, name it, as bridge_url, --bridge-url or in {BRIDGE_URL_VARIABLE}"
    )


def parse_url(url: str) -> tuple[str, int]:
    """Return the host and port of a bridge's URL.

    Raises:
        ConfigError: It is not a ``ws://`` URL with a port, or names another machine.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is no bridge's URL ({error}); {EXPECTED}") from error
    if not url.startswith("ws://") or not host or port is None or port == 0:
        raise ConfigError(f"{url!r} is no bridge's URL; {EXPECTED}")
    if host != "localhost" and not _is_loopback(host):
        raise ConfigError(f"{url!r} is on another machine; bridges are reached on the loopback only, 127.0.0.1")
    return host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
