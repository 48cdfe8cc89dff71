"""Where a bridge is: URLs, and the environment variable with the default one."""

import ipaddress
import os
from urllib.parse import urlsplit

from racer_env.errors import ConfigError

DEFAULT_URL = "ws://127.0.0.1:9876"
BRIDGE_URL_VARIABLE = "RACER_BRIDGE_URL"
EMBEDDED = "embedded"  # instead of a URL: the embedded simulator


def default_bridge_url(bridge_url: str | None) -> str | None:
    """Return the URL that holds: the argument, else the environment variable, else None.

    None and ``"embedded"`` stand for the embedded simulator; the latter also where the variable is set.
    """
    url = bridge_url if bridge_url is not None else os.environ.get(BRIDGE_URL_VARIABLE) or None
    return None if url == EMBEDDED else url


def parse_url(url: str) -> tuple[str, int]:
    """Return host and port of a bridge's URL.

    Raises:
        ConfigError: It is no ``ws://`` URL with a port, or names another machine.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is no bridge's URL ({error}); expected something like {DEFAULT_URL}") from error
    if parts.scheme != "ws" or not host or port is None or port == 0:
        raise ConfigError(f"{url!r} is no bridge's URL; expected something like {DEFAULT_URL}")
    if host != "localhost" and not _is_loopback(host):
        raise ConfigError(f"{url!r} is on another machine; bridges are reached on the loopback only, 127.0.0.1")
    return host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
