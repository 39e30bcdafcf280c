"""The visitor's pages in Firefox."""

import re

from firefox_page import FirefoxPage


async def read_first_digit():
    """What the page says once it has read a digit, or has given up."""
    import asyncio

    import js

    frame = js.document.createElement("iframe")
    frame.src = "/.webq8/index.html"
    js.document.body.append(frame)
    for _ in range(1200):
        await asyncio.sleep(0.1)
        page = frame.contentDocument
        answer, problem = (page and page.querySelector(selector) for selector in ("#answer", "[role=alert]"))
        if answer and "It reads" in answer.textContent:
            return answer.textContent, page.querySelector("#truth").textContent
        if problem and problem.checkVisibility():
            return problem.textContent, ""
    return "nothing for two minutes", ""


def test_first_digit(main_thread: FirefoxPage) -> None:
    said, truth = main_thread.call(read_first_digit)
    assert said.startswith("It reads")
    assert truth.split()[-1] == said.split()[-1]


async def run_example():
    """What the second view says once it has run its example on zeros, or has given up."""
    import asyncio

    import js

    frame = js.document.createElement("iframe")
    frame.src = "/.webq8/model.html"
    js.document.body.append(frame)
    steps = ["#example", "#inputs .main", "#profile"]
    for _ in range(1200):
        await asyncio.sleep(0.1)
        page = frame.contentDocument
        for problem in page.querySelectorAll("[role=alert]") if page else ():
            if problem.checkVisibility():
                return problem.textContent, 0, 0
        ready = page and page.querySelector("#demo") and not page.querySelector("#demo").inert
        if not ready or page.querySelector("#demo").ariaBusy == "true":
            continue
        if not steps:
            counts = (page.querySelectorAll(f"{place} .bars li").length for place in ("#outputs", "#bars > details"))
            return page.querySelector("#cost").textContent, *counts
        page.querySelector(steps.pop(0)).click()
    return "nothing for two minutes", 0, 0


def test_example_of_the_second_view(main_thread: FirefoxPage) -> None:
    said, scores, steps = main_thread.call(run_example)
    assert "GPU dispatches on" in said
    assert scores == 10
    assert steps == int(re.search(r"(\d+) GPU dispatches", said)[1])
