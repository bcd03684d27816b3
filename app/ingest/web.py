"""Fetch web pages for ingest: one page, or those of a sitemap, all of one host.

A request goes to the very address that was checked, so that DNS rebinding leads nowhere; no proxy is used.
"""

import asyncio
import ipaddress
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.robotparser import RobotFileParser

import httpx

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import MAX_ID_CHARS, IngestReport, SkippedFile
from app.ingest.find import FoundFile
from app.ingest.loaders.archive import parse_xml, reading
from app.ingest.loaders.text_encoding import Unreadable, decode
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import OnProgress, ingest_items
from graph.errors import InvalidInput

TYPES = {"text/html": ".html", "text/plain": ".txt", "text/markdown": ".md", "application/pdf": ".pdf"}
"""Content type → suffix of the loader. Servers send Markdown as plain text, too: there the address's suffix counts."""
AGENT = "knowledge-garden"
MAX_PAGE_BYTES, MAX_REDIRECTS, PAGE_SECONDS = 20 * 1024 * 1024, 5, 30.0  # redirects are within the seconds

TRANSLATED = [*map(ipaddress.ip_network, "64:ff9b::/96 64:ff9b:1::/48 2002::/16 fec0::/10 ::/96".split())]
"""IPv6 networks whose addresses stand for others (NAT64, 6to4, IPv4-compatible) or for a site's own (RFC 3879).

Python 3.11 calls them global."""


class WebLimits(NamedTuple):
    """Most pages and seconds of fetching per address; whether private addresses are allowed."""

    pages: int
    seconds: float
    private: bool


async def ingest_web(
    writer: CollectionWriter,
    addresses: Sequence[str],
    limits: WebLimits,
    manifest: IngestManifest,
    on_progress: OnProgress,
) -> IngestReport:
    """Store the pages of *addresses*, each a page or a sitemap (its path ends in ``.xml``).

    A page that cannot be fetched or read is named and left out. Raises ``InvalidInput`` for what is no web address.
    """
    tls, headers = httpx.create_ssl_context(), {"User-Agent": AGENT}
    with TemporaryDirectory(prefix="garden-web-") as folder:
        async with httpx.AsyncClient(trust_env=False, verify=tls, headers=headers, timeout=PAGE_SECONDS) as client:
            sites = [Website(client, address, limits) for address in addresses]
            pages = sum([await site.find() for site in sites])
            items = ((site.address, file) for site in sites async for file in site.files(Path(folder)))
            return await ingest_items(writer, items, pages, manifest=manifest, on_progress=on_progress)


def parse_address(address: str) -> httpx.URL:
    """Return the URL without its fragment. Raises ``InvalidInput``."""
    with suppress(httpx.InvalidURL):
        url = httpx.URL(address).copy_with(fragment=None)
        if url.scheme in ("http", "https") and url.host and not url.userinfo and len(str(url)) <= MAX_ID_CHARS:
            return url
    raise InvalidInput("no web address: http:// or https://, a host, no user name, 1,000 characters", field="paths")


class Website:
    """The pages below one address, fetched one after the other as ``robots.txt`` allows."""

    def __init__(self, client: httpx.AsyncClient, address: str, limits: WebLimits) -> None:
        self.address = address
        self._client = client
        self._start = parse_address(address)
        self._limits = limits
        self._seconds = limits.seconds
        self._robots = RobotFileParser()
        self._robots.modified()  # until the rules are read, robots.txt may be fetched from wherever it redirects to
        self._pages = {str(self._start): None}

    async def find(self) -> int:
        """Read ``robots.txt`` and the sitemaps, and return how many pages there are.

        A host without rules allows all, one that fails to give them nothing (RFC 9309). Raises ``InvalidInput``.
        """
        try:
            status, _, content = await self._get(self._start.copy_with(raw_path=b"/robots.txt"))
            if status >= 500:
                raise Unreadable(f"robots.txt: HTTP {status}")
            self._robots.parse(content.decode("utf-8-sig", "replace").splitlines() if status == httpx.codes.OK else [])
            if self._start.path.endswith(".xml"):
                await self._read_sitemaps()
        except Unreadable as error:
            raise InvalidInput(f"{self._start} cannot be read: {error}.", field="paths") from error
        return len(self._pages)

    async def files(self, folder: Path) -> AsyncIterator[FoundFile | SkippedFile]:
        """Yield each page as a file in *folder*, which the next one replaces."""
        for number, page in enumerate(self._pages):
            if number == self._limits.pages or self._seconds <= 0:
                reason = f"{len(self._pages) - number} pages left out after {number}: raise --max-pages, --max-seconds"
                yield SkippedFile(path=self.address, reason=reason, rows_lost=True)
                return
            try:
                page = str(url := parse_address(page))
                status, kind, content = await self._get(url)
                if status != httpx.codes.OK or kind not in TYPES:
                    raise Unreadable(f"HTTP {status}, content type {kind or 'missing'}")
                path = folder / f"page{'.md' if kind == 'text/plain' and page.endswith('.md') else TYPES[kind]}"
                await asyncio.to_thread(path.write_bytes, content)
            except (Unreadable, InvalidInput) as error:
                yield SkippedFile(path=page, reason=str(error))
            else:
                yield FoundFile(path, page, url=page)

    async def _read_sitemaps(self) -> None:
        sitemaps, self._pages = [*self._pages], {}
        for sitemap in sitemaps:
            status, _, content = await self._get(parse_address(sitemap))
            if status != httpx.codes.OK:
                raise Unreadable(f"{sitemap}: HTTP {status}")
            with reading("sitemap"):
                root = parse_xml(content)
                entries = [(str(entry.tag), entry.findtext("{*}loc", "").strip()) for entry in root.iterfind("{*}*")]
            named = dict.fromkeys(loc for tag, loc in entries if tag.endswith("sitemap"))
            sitemaps += [loc for loc in named if loc not in sitemaps][: self._limits.pages]
            self._pages |= {loc.partition("#")[0]: None for tag, loc in entries if tag.endswith("url")}
        if not self._pages:
            raise Unreadable("a sitemap without pages")

    async def _get(self, url: httpx.URL) -> tuple[int, str, bytes]:
        """Return status, content type and content. Raises ``Unreadable``."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, min(PAGE_SECONDS, self._seconds))):
                for _ in range(1 + MAX_REDIRECTS):
                    async with aclosing(await self._send(url)) as response:
                        if not response.has_redirect_location:
                            return await _content(response)
                    url = url.join(response.headers["location"])
            raise Unreadable(f"more than {MAX_REDIRECTS} redirects")
        except TimeoutError:
            raise Unreadable("timed out") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            raise Unreadable(getattr(error, "strerror", None) or str(error) or type(error).__name__) from error
        finally:
            self._seconds -= time.monotonic() - began

    async def _send(self, url: httpx.URL) -> httpx.Response:
        """Request a checked address of the one host, if the rules allow it; the body is unread."""
        if url.host != self._start.host or url.scheme not in ("https", self._start.scheme):
            raise Unreadable(f"leads to {url.scheme}://{url.host}: only {self._start.host} is read")
        if url.path != "/robots.txt" and not self._robots.can_fetch(AGENT, str(url)):
            raise Unreadable("robots.txt does not allow it")
        infos = await asyncio.get_running_loop().getaddrinfo(url.host, url.port or url.scheme, type=socket.SOCK_STREAM)
        address, *_ = sorted((ipaddress.ip_address(info[4][0]) for info in infos), key=lambda ip: ip.version)
        if not self._limits.private and not is_public(address):
            raise Unreadable(f"{url.host} has a private address; --allow-private reads it")
        target = url.copy_with(host=str(address))
        request = self._client.build_request("GET", target, headers={"Host": url.netloc.decode()})
        request.extensions["sni_hostname"] = url.host
        return await self._client.send(request, stream=True)


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Tell whether *address* is one of the internet's own, and no IPv6 form of another."""
    translated = any(address in network for network in TRANSLATED if network.version == address.version)
    return address.is_global and not address.is_multicast and not translated


async def _content(response: httpx.Response) -> tuple[int, str, bytes]:
    """Return status, content type and content, as UTF-8 if declared as text. Raises ``Unreadable``."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MAX_PAGE_BYTES:
            raise Unreadable(f"larger than {MAX_PAGE_BYTES // 1024**2} MiB")
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    charset = response.charset_encoding if kind.startswith("text/") else None
    return response.status_code, kind, decode(bytes(content), charset).encode() if charset else bytes(content)
