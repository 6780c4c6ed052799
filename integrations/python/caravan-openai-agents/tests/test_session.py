from __future__ import annotations

import asyncio
import random

import pytest
from agents import Agent, Runner, Usage
from agents.items import ModelResponse
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from agents.run import RunConfig
from caravan_client import AsyncConnection, CaravanError
from caravan_openai_agents import CaravanSession
from openai.types.responses import ResponseOutputMessage, ResponseOutputText


class CountingModel(Model):
    """Replies with the number of items that it got."""

    def __init__(self, interrupt=lambda: None) -> None:
        self._interrupt = interrupt

    async def get_response(self, system_instructions, input, *arguments, **options) -> ModelResponse:
        self._interrupt()
        text = ResponseOutputText(text=f"{len(input)} items", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="message", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments, **options):
        raise NotImplementedError


# A timeout for the start of a server on a busy machine.
PATIENCE = 300.0
NO_TRACING = RunConfig(tracing_disabled=True)


def says(text) -> dict:
    return {"role": "user", "content": str(text)}


def session_test(test):
    """Runs a coroutine with a function that opens sessions on the server."""

    def run(server, prefix, losing_proxy):
        async def all() -> None:
            connections = []

            def open(session_id="1", url=None, **options) -> CaravanSession:
                connections.append(AsyncConnection(url or server.url, patience=PATIENCE))
                return CaravanSession(session_id, connection=connections[-1], prefix=prefix, **options)

            open.server, open.proxy, open.prefix = server, losing_proxy, prefix
            try:
                await test(open)
            finally:
                for connection in connections:
                    await connection.aclose()

        asyncio.run(all())

    run.__name__ = test.__name__
    return run


async def length(session: CaravanSession) -> int:
    return await session._connection._redis.llen(session._name)


@session_test
async def test_it_is_a_session(open):
    assert isinstance(open(), Session)


@session_test
async def test_items_come_back_as_they_are(open):
    session = open("ünusual/名前 *")
    items = [says("ü 🚚 \u0000"), {"type": "reasoning", "summary": [], "deep": [{"a": [None, 1.5, True]}]}]
    await session.add_items(items)
    await session.add_items([])
    await session.add_items([says("more")])
    again = open("ünusual/名前 *")
    assert await again.get_items() == [*items, says("more")]
    assert await again.get_items(2) == [items[1], says("more")]
    assert await again.get_items(0) == []
    assert await open("another").get_items() == []


@session_test
async def test_what_is_popped_is_gone(open):
    session = open()
    assert await session.pop_item() is None
    await session.add_items([says(n) for n in range(5)])
    assert await session.pop_item() == says(4)
    assert await open().pop_item() == says(3)
    await session.add_items([says("new")])
    assert await session.get_items() == [says(0), says(1), says(2), says("new")]
    assert await session.get_items(2) == [says(2), says("new")]
    assert [await session.pop_item() for _ in range(5)] == [says("new"), says(2), says(1), says(0), None]
    assert await session.get_items() == []
    await session.add_items([says("again")])
    assert await session.get_items() == [says("again")]


@session_test
async def test_it_does_as_a_list_does(open):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance, expected = random.Random(seed), []
    sessions = [open(), open()]
    for n in range(300):
        session = chance.choice(sessions)
        match chance.randrange(12):
            case 0 | 1 | 2 | 3:
                added = [says((n, i)) for i in range(chance.randrange(1, 4))]
                await session.add_items(added)
                expected += added
            case 4 | 5 | 6 | 7 | 8 | 9:
                assert await session.pop_item() == (expected.pop() if expected else None)
            case 10:
                limit = chance.choice([None, 1, 5])
                assert await session.get_items(limit) == expected[-(limit or 1000) :]
            case 11 if chance.random() < 0.1:
                await session.clear_session()
                expected.clear()
    assert await open().get_items() == expected


@session_test
async def test_a_cleared_session_takes_no_room(open):
    session = open()
    await session.clear_session()
    await session.add_items([says(n) for n in range(5)])
    await session.clear_session()
    assert await length(session) == 0
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([says("again")])
    assert await open().get_items() == [says("again")]


@session_test
async def test_a_session_of_which_much_was_popped_is_compacted(open):
    session = open()
    await session.add_items([says(n) for n in range(100)])
    for _ in range(90):
        await session.pop_item()
    assert await length(session) == 91
    assert await session.get_items() == [says(n) for n in range(10)]
    assert await length(session) == 1
    assert await open().get_items() == [says(n) for n in range(10)]
    # The journal that the session has cached is out of date after the compaction.
    await session.add_items([says("more")])
    assert await open().get_items(2) == [says(9), says("more")]


@session_test
async def test_items_longer_than_a_value_of_the_server(open):
    session = open()
    long = says("ü" * 5_000_000)
    await session.add_items([says("before"), long, long])
    assert await open().get_items() == [says("before"), long, long]
    assert await session.pop_item() == long
    await session.add_items([says("after")])
    assert await session.get_items(2) == [long, says("after")]


@session_test
async def test_each_item_is_popped_once(open):
    await open().add_items([says(n) for n in range(60)])
    popped = []

    async def pop(session):
        while (item := await session.pop_item()) is not None:
            popped.append(item["content"])

    await asyncio.gather(*(pop(open()) for _ in range(4)))
    assert sorted(popped, key=int) == [str(n) for n in range(60)]


@session_test
async def test_nothing_happens_twice_when_answers_are_lost(open):
    lossy, direct = open(url=open.proxy.url), open()
    for n in range(20):
        await lossy.add_items([says(n)])
    popped = [(await lossy.pop_item())["content"] for _ in range(10)]
    assert open.proxy.lost >= 10
    assert popped == [str(n) for n in range(19, 9, -1)]
    assert await direct.get_items() == [says(n) for n in range(10)]
    assert await length(direct) == 30


@session_test
async def test_two_processes_over_a_server_that_is_killed(open):
    added: list[str] = []

    async def add(by: str) -> None:
        session = open()
        for n in range(150):
            await session.add_items([says(f"{by} {n}")])
            added.append(f"{by} {n}")

    async def kill() -> None:
        while len(added) < 30:
            await asyncio.sleep(0)
        await asyncio.to_thread(open.server.kill_and_restart)
        assert len(added) < 300, "the server was killed in the midst"

    await asyncio.gather(add("a"), add("b"), kill())
    found = [item["content"] for item in await open().get_items()]
    assert sorted(found) == sorted(added)
    for by in "ab":
        assert [text for text in found if text.startswith(by)] == [f"{by} {n}" for n in range(150)]


@session_test
async def test_an_agent_remembers_over_a_server_that_is_killed(open):
    session, agent = open(), Agent(name="counter", model=CountingModel())
    assert (await Runner.run(agent, "one", session=session, run_config=NO_TRACING)).final_output == "1 items"
    killing = Agent(name="counter", model=CountingModel(open.server.kill_and_restart))
    assert (await Runner.run(killing, "two", session=session, run_config=NO_TRACING)).final_output == "3 items"
    # Another process.
    assert (await Runner.run(agent, "three", session=open(), run_config=NO_TRACING)).final_output == "5 items"
    texts = [item["content"] for item in await open().get_items() if item["role"] == "user"]
    assert texts == ["one", "two", "three"]


@session_test
async def test_the_settings_limit_what_an_agent_is_given(open):
    session = open(session_settings=SessionSettings(limit=2))
    agent = Agent(name="counter", model=CountingModel())
    outputs = [(await Runner.run(agent, "x", session=session, run_config=NO_TRACING)).final_output for _ in range(3)]
    assert outputs == ["1 items", "3 items", "3 items"]


def test_a_server_that_stays_away_is_an_error():
    async def run() -> None:
        session = CaravanSession.from_url("1", url="redis://127.0.0.1:1", patience=0.3)
        with pytest.raises(CaravanError, match="no answer"):
            await session.get_items()
        await session.close()

    asyncio.run(run())
