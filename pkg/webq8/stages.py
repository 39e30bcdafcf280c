"""Long work that pauses: generators that yield where a page may do something else; and awaitables that never wait."""

from collections.abc import Awaitable, Callable, Generator
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Done", "Stage", "Steps", "drive", "finish"]

P = ParamSpec("P")
T = TypeVar("T")
Steps = Generator[None, None, T]


class Stage(Generic[P, T]):
    """A function made of a generator function: to call it does all the work at once; `steps(…)` is the generator."""

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(self.steps(*args, **kwargs))


def finish(steps: Steps[T]) -> T:
    """Runs the generator of a stage to its end, and returns its result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result


class Done(Generic[T]):
    """An awaitable whose result is there already."""

    def __init__(self, result: T) -> None:
        self.result = result

    def __await__(self) -> Generator[None, None, T]:
        return self.result
        yield  # makes this function a generator, as `await` requires


def drive(awaitable: Awaitable[T]) -> T:
    """Runs an awaitable that never waits, as on `device="cpu"`, without an event loop, and returns its result."""
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
