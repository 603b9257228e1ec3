"""Visitors who look and submitters who submit, through the proxy, while processes are restarted."""

import asyncio
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx2

from tests.production.prod_check.stack import Stack

VISITORS, SUBMITTERS, SUBMISSIONS = 200, 4, 20
PAUSE_SECONDS = (8.0, 30.0)
LONGEST_SECONDS = 60.0
CONNECTION_PAUSES = (0.3, 1.0, 3.0)
PASSWORD = "a long passphrase for tests"
PAGES = (
    "/",
    "/?suite=medheb-demo",
    "/tasks/",
    "/methods/",
    "/queue/",
    "/boards/family/image_to_label/?suite=medheb-demo",
)
SUITE = "texts-of-the-load"


@dataclass
class Load:
    """What was asked and answered. `problems` are errors that a person would have seen.

    `retried` counts connections that were refused and made anew, as browsers do: nothing had been sent on them.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    retried: int = 0
    visitors: int = 0
    submitted: list[str] = field(default_factory=list)

    def slowest_of_hundred(self) -> float:
        """The seconds within which 99% were answered."""
        return statistics.quantiles(self.seconds, n=100)[-1]


async def run_load(stack: Stack, load: Load, done: asyncio.Event) -> None:
    """Let everybody come, and visitors go on until `done`."""
    limits = httpx2.Limits(max_connections=VISITORS + SUBMITTERS, max_keepalive_connections=VISITORS)
    async with httpx2.AsyncClient(
        base_url=stack.address, verify=stack.trust, timeout=LONGEST_SECONDS, limits=limits, trust_env=False
    ) as client:
        visits = [visit(client, load, done, number) for number in range(VISITORS)]
        await asyncio.gather(*visits, *(submit_some(stack, load, number) for number in range(SUBMITTERS)))


async def visit(client: httpx2.AsyncClient, load: Load, done: asyncio.Event, number: int) -> None:
    """A visitor looks at one page after the other, reading in between; at two at least."""
    chance = random.Random(number)
    await asyncio.sleep(chance.uniform(0, PAUSE_SECONDS[1]))
    seen = 0
    while seen < 2 or not done.is_set():
        await ask(client, load, "GET", chance.choice(PAGES))
        seen += 1
        try:
            await asyncio.wait_for(done.wait(), timeout=chance.uniform(*PAUSE_SECONDS))
        except TimeoutError:
            continue
    load.visitors += 1


async def ask(
    client: httpx2.AsyncClient, load: Load, method: str, path: str, data: dict[str, str] | None = None
) -> httpx2.Response | None:
    """One request, noted; None if there was no answer."""
    started = time.monotonic()
    headers = {"Referer": str(client.base_url), "Origin": str(client.base_url).rstrip("/")} if data else {}
    try:
        answer = await connected(load, lambda: client.request(method, path, data=data, headers=headers))
    except httpx2.HTTPError as error:
        load.problems.append(f"{method} {path}: {type(error).__name__} {error}")
        return None
    load.seconds.append(time.monotonic() - started)
    load.statuses[answer.status_code] += 1
    if answer.status_code >= 400:
        load.problems.append(f"{method} {path}: status {answer.status_code}")
    return answer


async def connected(load: Load, send: Callable[[], Awaitable[httpx2.Response]]) -> httpx2.Response:
    """The answer, after further attempts to connect where one was refused: the proxy may just be replaced."""
    for pause in CONNECTION_PAUSES:
        try:
            return await send()
        except httpx2.ConnectError:
            load.retried += 1
            await asyncio.sleep(pause)
    return await send()


async def submit_some(stack: Stack, load: Load, number: int) -> None:
    """A person signs up and submits their models, one after the other."""
    async with httpx2.AsyncClient(
        base_url=stack.address, verify=stack.trust, timeout=LONGEST_SECONDS, trust_env=False
    ) as client:
        form = {"username": f"submitter{number}", "password1": PASSWORD, "password2": PASSWORD}
        await post_form(client, load, "/accounts/signup/", form | {"email": f"submitter{number}@board.example"})
        for model in range(number, SUBMISSIONS, SUBMITTERS):
            wanted = {"repo_id": f"load/model{model:02}", "suite": SUITE, "action": "submit"}
            answer = await post_form(client, load, "/submit/", wanted)
            if answer is None or answer.status_code != 302 or "/submissions/" not in answer.headers["Location"]:
                load.problems.append(f"load/model{model:02} was not taken")
            else:
                load.submitted.append(wanted["repo_id"])
            await asyncio.sleep(3)


async def post_form(client: httpx2.AsyncClient, load: Load, path: str, data: dict[str, str]) -> httpx2.Response | None:
    """Open a form and send it with its token."""
    page = await ask(client, load, "GET", path)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text if page else "")
    return await ask(client, load, "POST", path, data | {"csrfmiddlewaretoken": token[1] if token else ""})
