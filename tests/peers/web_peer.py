"""A website: pages by path, everything else is not found."""

from __future__ import annotations

from tests.peers.http_peer import HttpPeer
from tests.peers.wire import Received, Reply


class WebPeer(HttpPeer):
    """Serves what ``pages`` holds; ``sitemap`` lists paths (or whole addresses) as pages."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Reply] = {}

    def page(self, path: str, content: str | bytes, content_type: str = "text/html", **headers: str) -> None:
        body = content.encode() if isinstance(content, str) else content
        self.pages[path] = Reply(body, content_type=content_type, headers=headers)

    def sitemap(self, *paths: str, at: str = "/sitemap.xml", kind: str = "url") -> str:
        """Put a sitemap at a path, and return its address; ``kind`` is ``sitemap`` for one of sitemaps."""
        places = (path if "://" in path else self.url + path for path in paths)
        entries = "".join(f"<{kind}><loc>\n{place}\n</loc></{kind}>" for place in places)
        name = "urlset" if kind == "url" else "sitemapindex"
        self.page(at, f'<{name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{name}>', "text/xml")
        return self.url + at

    def redirect(self, path: str, to: str) -> None:
        self.pages[path] = Reply(b"", status=302, headers={"Location": to})

    async def respond(self, request: Received) -> Reply:
        return self.pages.get(request.path, Reply(b"nothing here", status=404, content_type="text/plain"))
