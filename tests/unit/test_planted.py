"""The planted errors fit the code, so that `planted.py` can plant them at any time."""

from pathlib import Path

import planted
import pytest
from planted_errors import PLANTED, Planted

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("error", PLANTED, ids=lambda error: error.error)
def test_its_text_stands_once(error: Planted) -> None:
    original = (ROOT / error.file).read_text("utf-8")
    assert planted.text_with(error) != original
    assert any((ROOT / argument).exists() for argument in error.tests)


def test_a_text_that_is_gone_is_told() -> None:
    gone = Planted("an error", PLANTED[0].file, "what no file holds", "", ())
    with pytest.raises(planted.DoesNotFit, match="'what no file holds' stands 0 times in"):
        planted.text_with(gone)
