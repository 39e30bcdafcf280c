"""pkg/OPS.md is what the declarations of operators say."""

from pathlib import Path

from webq8.desktop import listing
from webq8.formats.pte.operators import all_overloads

PAGE = Path(__file__).parents[2] / "pkg" / "OPS.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == listing.markdown(), "run: .venv/bin/webq8 ops --markdown > pkg/OPS.md"


def test_every_op_is_listed() -> None:
    listed = {name for names, *_ in listing.rows() for name in names.split(", ")}
    assert listed == set(all_overloads())
