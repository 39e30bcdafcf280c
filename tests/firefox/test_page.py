"""The visitor's page in Firefox."""

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
