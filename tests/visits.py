"""Visits to the pages in web/, as a visitor makes them."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from playwright.sync_api import Browser, Page, Route
from webq8.desktop.site import Site

# Stricter than the site's own: what anyone who hosts the page may demand.
POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'"
START_MS = 60_000

RECORD_PROGRESS = """
window.recorded = { stages: [], fractions: [] };
addEventListener("DOMContentLoaded", () => {
  const stage = document.getElementById("stage"), bar = document.getElementById("progress");
  const record = () => { recorded.stages.push(stage.textContent); recorded.fractions.push(bar.value); };
  new MutationObserver(record).observe(stage, { childList: true });
  new MutationObserver(record).observe(bar, { attributes: true });
});
"""

Handler = Callable[[Route], None]
Routes = Mapping[Any, Handler]  # by what matches their addresses


@dataclass
class Visit:
    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


V = TypeVar("V", bound=Visit)


@contextmanager
def visit(
    kind: type[V],
    chromium: Browser,
    site: Site,
    path: str = "",
    *,
    routes: Routes | None = None,
    **options: Any,
) -> Iterator[V]:
    with chromium.new_context(**options) as context:
        page = context.new_page()
        visit = kind(page)
        page.on("console", lambda message: visit.complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        page.on("request", lambda request: visit.requests.append(request.url))
        page.add_init_script(RECORD_PROGRESS)
        page.route(re.compile(r"/(model\.html|worker\.js)?$"), under_policy(""))
        for pattern, handler in (routes or {}).items():
            page.route(pattern, handler)
        page.goto(site.url + path)
        yield visit
        page.unroute_all(behavior="wait")  # the context must not close under a handler that is still fetching


def under_policy(prefix: str, policy: str = POLICY) -> Handler:
    """Serves a file under the strict policy, or another one, after `prefix`."""

    def handle(route: Route) -> None:
        response = route.fetch()
        headers = response.headers | {"content-security-policy": policy}
        route.fulfill(response=response, headers=headers, body=prefix + response.text())

    return handle
