"""Find the proxy that the environment names for an address."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import urlsplit

from jrh.errors import JrhError


def proxy_for(url: str) -> str | None:
    """Return the proxy from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, or None; always None for this machine.

    Called once per model: aiohttp's own `trust_env` looks it up for every request and also reads `~/.netrc`.

    Raises:
        JrhError: aiohttp does not support the kind of proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise JrhError(
            f"the environment names a {urlsplit(proxy).scheme} proxy, but only http and https work; "
            "set HTTPS_PROXY or NO_PROXY, or use_proxy: false"
        )
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
