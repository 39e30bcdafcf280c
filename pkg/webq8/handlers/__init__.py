"""One module a family of ops; importing them fills the registry."""

from webq8.handlers import conv, int8, linear, quant
from webq8.handlers.registry import REGISTRY

__all__ = ["REGISTRY", "conv", "int8", "linear", "quant"]
