"""Readers: bytes of a file to `ir.Program`."""

from webq8.formats.pte.read import read_pte

__all__ = ["read_pte"]
