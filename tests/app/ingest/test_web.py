"""Web pages: a page or a sitemap of one host, within its rules and our bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport
from app.ingest.manifest import IngestManifest
from app.ingest.web import MAX_PAGE_BYTES, WebLimits, ingest_web, is_public
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore
from graph.errors import InvalidInput
from tests.app.ingest.conftest import MODEL, pdf
from tests.peers.web_peer import WebPeer
from tests.peers.wire import Fault, Reply

Read = Callable[..., Awaitable[IngestReport]]
PIER = "<title>Pier</title><body><nav>Home</nav><h1>Pier</h1><p>The lighthouse stands on the {} pier.</p>"


@pytest.fixture
def site() -> Iterator[WebPeer]:
    """A website without rules."""
    with WebPeer() as peer:
        peer.page("/pier", PIER.format("northern"))
        peer.page("/mill.md", "# Mill\n\nThe mill grinds oats on Tuesdays.\n", "text/plain; charset=utf-8")
        yield peer


@pytest.fixture
def read(store: EmbeddedStore, embeddings: MiniLMEmbeddings, tmp_path: Path) -> Read:
    """``await read(address, …)``: ingest with the real model; private addresses are allowed unless said."""

    async def run(
        *addresses: str, prune: bool = False, pages: int = 100, seconds: float = 60, private: bool = True
    ) -> IngestReport:
        manifest = IngestManifest(tmp_path / "data" / "documents", addresses, prune=prune)
        writer = CollectionWriter(store, embeddings, MODEL)
        return await ingest_web(writer, addresses, WebLimits(pages, seconds, private), manifest, lambda _: None)

    return run


def counts(report: IngestReport) -> list[int]:
    return [report.added, report.changed, report.unchanged, report.removed]


async def stored(store: EmbeddedStore) -> dict[str, str]:
    """The text of each document by the address its chunks are cited with."""
    return {str(point.metadata["url"]): point.text async for page in store.apoints() for point in page}


async def test_pages_of_a_sitemap(site: WebPeer, read: Read, store: EmbeddedStore) -> None:
    """Each page is read by its type and cited by its address, which is its id; a second run changes nothing."""
    site.page("/fees.pdf", pdf([(11, "The ferry costs nine crowns.")]), "application/pdf")
    site.page("/latin", "Der K\u00f6nig kommt am Montag.".encode("latin-1"), "text/plain; charset=ISO-8859-1")
    site.sitemap("/pier", "/mill.md", at="/inner.xml")
    site.sitemap("/fees.pdf", "/latin", at="/other.xml")
    address = site.sitemap("/inner.xml", "/other.xml", kind="sitemap")
    assert counts(await read(address)) == [4, 0, 0, 0]
    assert await stored(store) == {
        f"{site.url}/pier": "The lighthouse stands on the northern pier.",
        f"{site.url}/mill.md": "The mill grinds oats on Tuesdays.",
        f"{site.url}/fees.pdf": "The ferry costs nine crowns.",
        f"{site.url}/latin": "Der K\u00f6nig kommt am Montag.",
    }
    assert (await store.adocuments()).keys() == (await stored(store)).keys()
    assert counts(await read(address)) == [0, 0, 4, 0]


async def test_pages_that_changed_failed_or_went(site: WebPeer, read: Read, store: EmbeddedStore) -> None:
    """A changed page is replaced; with ``--prune`` one gone from the sitemap is removed, and one that fails is not."""
    site.page("/gone", "<p>Words.</p>")
    await read(site.sitemap("/pier", "/mill.md#grain", "/gone"))
    site.page("/pier", PIER.format("southern"))
    site.pages["/mill.md"].status = 500
    done = await read(site.sitemap("/pier", "/mill.md#oats"), prune=True)
    assert counts(done) == [0, 1, 0, 1]
    (failed,) = done.skipped
    assert (failed.path, failed.reason.partition(",")[0]) == (f"{site.url}/mill.md", "HTTP 500")
    assert await stored(store) == {
        f"{site.url}/pier": "The lighthouse stands on the southern pier.",
        f"{site.url}/mill.md": "The mill grinds oats on Tuesdays.",
    }


async def test_one_page(site: WebPeer, read: Read, store: EmbeddedStore) -> None:
    """A page's address is the one that was asked for, whatever it says of itself."""
    site.page("/pier", f'<link rel="canonical" href="https://example.org/">{PIER.format("northern")}')
    assert counts(await read(f"{site.url}/pier#top")) == [1, 0, 0, 0]
    assert list(await stored(store)) == [f"{site.url}/pier"]


async def test_pages_that_cannot_be_read_are_named(site: WebPeer, read: Read, store: EmbeddedStore) -> None:
    """Another type, another host, a redirect to another host or without end, and a page too large cost themselves."""

    async def large() -> AsyncIterator[bytes]:
        for _ in range(MAX_PAGE_BYTES // 2**20 + 1):
            yield b" " * 2**20

    site.page("/plan.png", b"\x89PNG", "image/png")
    site.redirect("/away", f"http://localhost:{site.port}/pier")
    site.redirect("/round", "/round")
    site.redirect("/old", "/pier")
    site.pages["/large"] = Reply(large(), content_type="text/plain")
    done = await read(site.sitemap("/old", "/plan.png", "/away", "/round", "/large", "http://example.org/x", "/none"))
    assert [skipped.reason for skipped in done.skipped] == [
        "HTTP 200, content type image/png",
        "leads to http://localhost: only 127.0.0.1 is read",
        "more than 5 redirects",
        "larger than 20 MiB",
        "leads to http://example.org: only 127.0.0.1 is read",
        "HTTP 404, content type text/plain",
    ]
    assert list(await stored(store)) == [f"{site.url}/old"]


async def test_robots_txt_is_kept(site: WebPeer, read: Read) -> None:
    """What the rules forbid is not asked for, also behind a redirect; without an answer about them nothing is."""
    site.page("/robots.txt", "\ufeffUser-agent: *\nDisallow: /mill\n", "text/plain")
    site.redirect("/old", "/mill.md")
    done = await read(site.sitemap("/pier", "/mill.md", "/old"))
    assert counts(done) == [1, 0, 0, 0]
    assert {skipped.reason for skipped in done.skipped} == {"robots.txt does not allow it"}
    assert not site.asked("/mill.md")
    site.pages["/robots.txt"].status = 503
    with pytest.raises(InvalidInput, match=r"robots\.txt: HTTP 503"):
        await read(f"{site.url}/pier")


@pytest.mark.parametrize("address", ["64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:10.0.0.1", "::7f00:1", "fec0::1"])
def test_an_address_in_the_form_of_another_is_not_public(address: str) -> None:
    """IPv6 forms of other addresses lead where those lead."""
    assert not is_public(ip_address(address))
    assert is_public(ip_address("2606:4700::1111"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::1]"])
async def test_private_addresses_are_refused(site: WebPeer, read: Read, host: str) -> None:
    """However it is written, an address that is not public gets no request unless that is allowed."""
    with pytest.raises(InvalidInput, match="has a private address; --allow-private reads it"):
        await read(f"http://{host}:{site.port}/pier", private=False)
    assert site.requests == []


async def test_too_many_pages_are_left_out(site: WebPeer, read: Read) -> None:
    """Past the limit pages are counted, not read, and then nothing counts as gone."""
    address = site.sitemap("/pier", "/mill.md")
    assert counts(await read(address)) == [2, 0, 0, 0]
    site.sitemap("/pier", "/new")
    done = await read(address, pages=1, prune=True)
    assert counts(done) == [0, 0, 1, 0]
    assert done.skipped[0].reason.startswith("1 pages left out after 1")
    assert done.note.startswith("Nothing was removed")


async def test_a_server_that_never_answers_is_left(site: WebPeer, read: Read) -> None:
    """The seconds of fetching are bounded."""
    site.fault = Fault("silence")
    with pytest.raises(InvalidInput, match="cannot be read: timed out"):
        await read(f"{site.url}/pier", seconds=0.2)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("{}/sitemap.xml", "HTTP 404"),
        ("{}/broken.xml", "a damaged sitemap"),
        ("{}/empty.xml", "a sitemap without pages"),
        ("http://me:secret@127.0.0.1/pier", "no web address"),  # pragma: allowlist secret
        ("http://", "no web address"),
    ],
)
async def test_what_stops_it(site: WebPeer, read: Read, address: str, message: str) -> None:
    """A sitemap that cannot be read and a password are refused before anything is stored."""
    site.page("/broken.xml", "<urlset><url>", "text/xml")
    site.sitemap(at="/empty.xml")
    with pytest.raises(InvalidInput, match=message) as refused:
        await read(address.format(site.url))
    assert "secret" not in str(refused.value)
