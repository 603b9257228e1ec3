"""Where a webhook may connect to. A stranger chose its address, so nothing inside this network may answer."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
MOST_NUMBERS = 3
"""How many numbers of a name are tried; all of them are checked."""


class AddressRefused(Exception):
    """The address may not be used, and trying again would not help."""


class AddressUnknown(Exception):
    """The name cannot be resolved at present."""


@dataclass(frozen=True, slots=True)
class Target:
    """A place to connect to: the name that it goes by, and the numbers that were checked for it, in order of choice."""

    scheme: str
    host: str
    numbers: tuple[str, ...]
    port: int
    path: str

    @property
    def name(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def resolve(url: str, *, private: bool) -> Target:
    """Resolve an address now and check every number that its name has; the connection must use the returned ones.

    Args:
        url: the address that a person gave.
        private: whether numbers of private networks, and connections without TLS, are allowed.

    Raises:
        AddressRefused: it is not an address of the public internet, or not one with TLS.
        AddressUnknown: the name has no number.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressRefused("The address cannot be read.") from error
    if parts.scheme not in PORTS or not host or parts.username is not None or parts.password is not None:
        raise AddressRefused("The address has to be https://host/path, without a user name.")
    if parts.scheme != "https" and not private:
        raise AddressRefused("The address has to begin with https://.")
    port = PORTS[parts.scheme] if port is None else port
    numbers = _numbers(host, port)
    if not private and not all(is_public(number) for number in numbers):
        raise AddressRefused(f"{host} is inside a private network; webhooks only go to the public internet.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme=parts.scheme, host=host, numbers=numbers[:MOST_NUMBERS], port=port, path=path)


def is_public(number: str) -> bool:
    """Whether a number belongs to the public internet, also when it is an IPv4 number dressed as an IPv6 one."""
    address = ipaddress.ip_address(number.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            address = inner
    return address.is_global and not address.is_multicast and not address.is_reserved


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _numbers(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressUnknown(f"The name {host} cannot be resolved.") from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
