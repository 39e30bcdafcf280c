"""Long work that can be interrupted: generators that yield where a page may do something else, and what never waits."""

from collections.abc import Awaitable, Callable, Generator
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Done", "Stage", "Steps", "drive", "finish"]

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


class Done(Generic[T]):
    """An awaitable of something that is there already."""

    def __init__(self, result: T) -> None:
        self.result = result

    def __await__(self) -> Generator[None, None, T]:
        return self.result
        yield  # has this be a generator, as `await` needs it


def drive(awaitable: Awaitable[T]) -> T:
    """The result of an awaitable that never waits, as those of `device="cpu"` do; needs no event loop."""
    waiting = awaitable.__await__()
    try:
        next(waiting)
    except StopIteration as done:
        result: T = done.value
        return result
    close = getattr(waiting, "close", None)
    if close:
        close()
    raise RuntimeError("this coroutine waits; await it")
