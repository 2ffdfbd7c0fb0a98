"""Parsing of the report's pages with the standard library's parser, so that tests can check them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from assay_features import load_catalogue

ADDRESSES = frozenset(document.url for document in load_catalogue().documents if document.url)
"""The documents' public addresses: the only links that lead out of a site."""
VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})


class Page(HTMLParser):
    """The parsed content of a page: ids, links, headings, tags, attributes and text; it checks that tags balance."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert self._open == [], f"{path} leaves {self._open} open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"{self.path}: </{tag}> closes nothing"
        assert self._open.pop() == tag, f"{self.path}: </{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.text += data

    def loaded(self) -> list[str]:
        """Return the addresses that a browser loads to show the page, without links to other pages."""
        names = ("href", "src", "srcset", "poster", "data", "action")
        found = [(tag, name, value) for tag, attributes in self.tags for name, value in attributes.items()]
        return [value for tag, name, value in found if name in names and value and (tag, name) != ("a", "href")]

    def broken_links(self) -> list[str]:
        """Return the relative links that lead to no file, or to no element of the file."""
        return [link for link in self.links if not self._leads_somewhere(link)]

    def _leads_somewhere(self, link: str) -> bool:
        parts = urlsplit(link)
        if parts.scheme == "data" or link in ADDRESSES:
            return True
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            return False
        target = (self.path.parent / unquote(parts.path)).resolve() if parts.path else self.path
        if not target.is_file():
            return False
        if not parts.fragment:
            return True
        return f'id="{unquote(parts.fragment)}"' in target.read_text(encoding="utf-8")


def pages_of(site: Path) -> list[Page]:
    """Read every page of a site."""
    return [Page(path) for path in sorted(site.rglob("*.html"))]
