"""One module a family of ops; importing them fills the registry."""

from webq8.handlers import conv, linear, quant
from webq8.handlers.registry import REGISTRY

__all__ = ["REGISTRY", "conv", "linear", "quant"]
