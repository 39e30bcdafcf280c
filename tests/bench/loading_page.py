"""What loading.py runs in a page: the stages from a file's bytes to its plan, and what importing takes."""

import time


def imported() -> float:
    """Milliseconds that importing webq8 takes, once in a page."""
    start = time.perf_counter()
    import webq8  # noqa: F401

    return (time.perf_counter() - start) * 1e3


def stages(data: bytes, rounds: int) -> list[dict[str, float]]:
    """Milliseconds of each stage, round by round; the first one imports what the network needs."""
    from webq8.budget import Budget
    from webq8.formats import read_file
    from webq8.runtime.compile import lower_file, plan_methods, rewrite
    from webq8.target import Target

    found = []
    for _ in range(rounds):
        times = [time.perf_counter()]
        file = read_file(data, "network")
        times.append(time.perf_counter())
        budget = Budget(file.size, "network")
        graphs = lower_file(file, "network", budget, {})
        times.append(time.perf_counter())
        graphs = {name: rewrite(graph, None, budget) for name, graph in graphs.items()}
        times.append(time.perf_counter())
        plan_methods(graphs, Target(), "network", budget, {})
        times.append(time.perf_counter())
        names = ("parse", "lower", "rewrite", "plan")
        found.append({name: (b - a) * 1e3 for name, a, b in zip(names, times, times[1:], strict=False)})
    return found
