"""Bounds the memory and time that a file may take to a small multiple of its size. A few bytes that stand for more are
refused before anything is spent on them; no exporter writes such files."""

from webq8.errors import FormatError, LimitError, Webq8Error

__all__ = ["Budget"]

_MIB = 2**20


class Budget:
    """The budget of a file of `size` bytes, of which work spends. A graph without a file (None) has no bound."""

    def __init__(self, size: int | None, what: str) -> None:
        self._size, self._what = size, what
        bound = float("inf") if size is None else size
        self._reading = 2 * bound + _MIB
        self._constants, self._items, self._dispatches = 64 * bound + 256 * _MIB, bound + 2**18, bound / 32 + 2**12
        self._kept = 8 * bound + 24 * _MIB

    def read(self, nbytes: int) -> None:
        """Spends bytes that a reader decodes; bytes that several parts share are decoded several times."""
        self._reading -= nbytes
        if self._reading < 0:
            self._refuse("its parts refer to the same bytes again and again", FormatError)

    def call(self, constants: int, items: int) -> None:
        """Spends the bytes of constants and the items of lists that lowering and planning a call look at."""
        self._constants -= constants
        self._items -= items
        if self._constants < 0 or self._items < 0:
            self._refuse("its calls share constants or lists without end", LimitError)

    def dispatch(self) -> None:
        """Spends one dispatch."""
        self._dispatches -= 1
        if self._dispatches < 0:
            self._refuse("its calls take dispatches without end", LimitError)

    def keep(self, nbytes: int) -> None:
        """Spends the bytes of constants that were computed, or packed for the GPU."""
        self._kept -= nbytes
        if self._kept < 0:
            self._refuse("its constants become many times as large when they are packed for the GPU", LimitError)

    def affords(self, nbytes: int) -> bool:
        """Whether this many bytes of computed constants can still be kept."""
        return nbytes <= self._kept

    def _refuse(self, why: str, kind: type[Webq8Error]) -> None:
        raise kind(f"{self._what}: too much would come of a file of {self._size:,} bytes: {why}. Export it again")
