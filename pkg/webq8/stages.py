"""Long work that can be interrupted: generators that yield where a page may do something else."""

from collections.abc import Callable, Generator
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Stage", "Steps", "finish"]

P = ParamSpec("P")
T = TypeVar("T")
Steps = Generator[None, None, T]


class Stage(Generic[P, T]):
    """A function made of a generator function: a call does all of its work at once, `steps(…)` is the generator."""

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(self.steps(*args, **kwargs))


def finish(steps: Steps[T]) -> T:
    """The result of a stage's generator, all of whose work is done at once."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
