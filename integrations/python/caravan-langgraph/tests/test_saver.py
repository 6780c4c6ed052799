from __future__ import annotations

import asyncio
import operator
import threading
from typing import Annotated, TypedDict

import pytest
from caravan_client import Connection, Request, checked
from caravan_langgraph import CaravanSaver
from caravan_langgraph.documents import Namespace, Thread
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import END, START, StateGraph


@pytest.fixture
def saver(server, prefix):
    saver = CaravanSaver(server.url, prefix=prefix)
    yield saver
    saver.close()


# A timeout for the start of a server on a busy machine.
PATIENCE = 300.0


def at(thread: str, checkpoint_id: str | None = None, namespace: str = "") -> dict:
    configurable = {"thread_id": thread, "checkpoint_ns": namespace}
    return {"configurable": configurable | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}


def put(saver, config, values, new=None, *, id=None, **metadata) -> dict:
    versions = {channel: version for channel, (version, _) in values.items()}
    checkpoint = {
        "v": 1,
        "id": id or str(uuid6(clock_seq=-1)),
        "ts": "2026-01-01T00:00:00+00:00",
        "channel_values": {channel: value for channel, (_, value) in values.items()},
        "channel_versions": versions,
        "versions_seen": {},
        "updated_channels": None,
    }
    new_versions = versions if new is None else {channel: versions[channel] for channel in new}
    return saver.put(config, checkpoint, {"source": "loop", "step": 1, **metadata}, new_versions)


def commands_of(connection: Connection) -> list[tuple]:
    """Returns a list to which the commands of a connection are added from now on."""
    sent: list[tuple] = []
    attempt = connection._attempt

    def record(request: Request):
        sent.extend(request.commands)
        return attempt(request)

    connection._attempt = record
    return sent


def document(saver: CaravanSaver, prefix: str, thread: str, namespace: str = "") -> str:
    place = Thread(prefix, thread)
    incarnation = saver._sync.connection.run(place.incarnation())
    return place.document(Namespace(namespace, incarnation))


def ask(saver: CaravanSaver, *command):
    def steps():
        (answer,) = yield Request([command])
        return checked(answer)

    return saver._sync.connection.run(steps())


class State(TypedDict):
    words: Annotated[list[str], operator.add]


def graph(saver, nodes: int = 3):
    builder = StateGraph(State)
    names = [f"node {n}" for n in range(nodes)]
    for name in names:
        builder.add_node(name, lambda state, name=name: {"words": [name]})
    for one, other in zip([START, *names], [*names, END]):
        builder.add_edge(one, other)
    return builder.compile(checkpointer=saver)


def test_a_graph_goes_on_where_it_was(server, prefix):
    config = {"configurable": {"thread_id": "ünusual/名前|*"}}
    for turn in range(2):
        # Another process.
        saver = CaravanSaver(server.url, prefix=prefix)
        graph(saver).invoke({"words": [f"turn {turn}"]}, config)
        saver.close()
    words = graph(CaravanSaver(server.url, prefix=prefix)).get_state(config).values["words"]
    one_turn = [f"node {n}" for n in range(3)]
    assert words == ["turn 0", *one_turn, "turn 1", *one_turn]


def test_a_graph_in_several_event_loops(server, prefix):
    saver = CaravanSaver(server.url, prefix=prefix)
    config = {"configurable": {"thread_id": "1"}}

    async def turn() -> list[str]:
        result = await graph(saver).ainvoke({"words": ["turn"]}, config)
        await saver.aclose()
        return result["words"]

    asyncio.run(turn())
    assert asyncio.run(turn()).count("turn") == 2
    # The same with the blocking methods.
    assert len(graph(saver).get_state(config).values["words"]) == 8
    saver.close()


def test_a_put_is_one_append_of_what_is_new(saver, prefix):
    long = "x" * 200_000
    config = put(saver, at("1"), {"long": ("1", long), "short": ("1", "a")})
    sent = commands_of(saver._sync.connection)
    for n in range(2, 30):
        config = put(saver, config, {"long": ("1", long), "short": (str(n), "b")}, new=["short"])
    assert {command[0] for command in sent} == {"CARAVAN.APPEND"} and len(sent) == 28
    assert sum(len(word) for command in sent for word in command if isinstance(word, bytes)) < 50_000
    found = saver.get_tuple(at("1"))
    assert found.checkpoint["channel_values"] == {"long": long, "short": "b"}
    # Another process must read first, but writes no more than this one.
    other = CaravanSaver(saver._sync.connection.url, prefix=prefix)
    sent = commands_of(other._sync.connection)
    put(other, config, {"long": ("1", long), "short": ("99", "c")}, new=["short"])
    assert sum(len(word) for command in sent for word in command if isinstance(word, bytes)) < 5_000
    other.close()


def test_the_newest_of_a_long_thread_is_read_without_the_rest(saver, prefix):
    config = put(saver, at("1"), {"first": ("1", "kept from the first on"), "n": ("0", 0)})
    for n in range(1, 300):
        config = put(saver, config, {"first": ("1", "kept from the first on"), "n": (str(n), n)}, new=["n"])
    fresh = CaravanSaver(saver._sync.connection.url, prefix=prefix)
    read: list[int] = []
    attempt = fresh._sync.connection._attempt

    def count(request):
        answers = attempt(request)
        read.extend(
            len(answer[1]) for command, answer in zip(request.commands, answers) if command[0] == "CARAVAN.READ"
        )
        return answers

    fresh._sync.connection._attempt = count
    assert fresh.get_tuple(at("1")).checkpoint["channel_values"] == {"first": "kept from the first on", "n": 299}
    assert ask(saver, "LLEN", document(saver, prefix, "1")) > 1000
    assert sum(read) < 20
    fresh.close()


def test_values_longer_than_a_value_of_the_server(server, prefix):
    saver = CaravanSaver(server.url, prefix=prefix)
    long, longer = "ü" * 1_500_000, bytes(range(256)) * 30_000
    config = put(saver, at("1"), {"long": ("1", long), "longer": ("1", longer)}, note="n" * 2_000_000)
    saver.put_writes(config, [("long", longer), ("short", "s")], "task")
    found = CaravanSaver(server.url, prefix=prefix).get_tuple(at("1"))
    assert found.checkpoint["channel_values"] == {"long": long, "longer": longer}
    assert found.metadata["note"] == "n" * 2_000_000
    assert found.pending_writes == [("task", "long", longer), ("task", "short", "s")]
    many = [("c", n) for n in range(50_000)]
    saver.put_writes(config, many, "another")
    assert [value for *_, value in saver.get_tuple(config).pending_writes] == [*range(50_000), longer, "s"]
    saver.close()


def test_writes_that_come_before_their_checkpoint(saver, prefix):
    """Tasks may finish before their checkpoint is stored in the background."""
    first = put(saver, at("1"), {})
    id = str(uuid6(clock_seq=-1))
    for n in range(3):
        saver.put_writes(at("1", id), [("early", n)], f"task {n}")
    for n in range(30):
        saver.put_writes(first, [("late", n)], f"another {n}")
    # Another process has appended, so this process must read the journal again.
    CaravanSaver(saver._sync.connection.url, prefix=prefix).put_writes(first, [("late", "other")], "other")
    put(saver, first, {}, id=id)
    fresh = CaravanSaver(saver._sync.connection.url, prefix=prefix)
    expected = [(f"task {n}", "early", n) for n in range(3)]
    assert fresh.get_tuple(at("1")).pending_writes == expected
    assert next(fresh.list(at("1"))).pending_writes == expected
    fresh.prune(["1"])
    assert fresh.get_tuple(at("1")).pending_writes == expected


def test_writes_come_in_the_order_of_their_tasks(saver):
    config = put(saver, at("1"), {})
    saver.put_writes(config, [("c", "second")], "a task", "~pull, b")
    saver.put_writes(config, [("c", "first")], "task", "~pull, a")
    saver.put_writes(config, [("c", "input")], "null")
    saver.put_writes(config, [("__interrupt__", "old")], "task", "~pull, a")
    saver.put_writes(config, [("__interrupt__", "new")], "task", "~pull, a")
    saver.put_writes(config, [("c", "never")], "task", "~pull, a")
    assert [value for *_, value in saver.get_tuple(config).pending_writes] == ["input", "new", "first", "second"]


def test_a_branch_does_not_take_the_values_of_another(saver):
    root = put(saver, at("1"), {"a": ("1", "root"), "b": ("1", "shared")})
    left = put(saver, root, {"a": ("2", "left"), "b": ("1", "shared")}, new=["a"])
    right = put(saver, root, {"a": ("2", "right"), "b": ("1", "shared")}, new=["a"])
    leaf = put(saver, left, {"a": ("2", "left"), "b": ("2", "own")}, new=["b"])
    values = [saver.get_tuple(config).checkpoint["channel_values"] for config in (left, right, leaf)]
    assert values == [
        {"a": "left", "b": "shared"},
        {"a": "right", "b": "shared"},
        {"a": "left", "b": "own"},
    ]


def test_list_looks_on_after_its_limit_only_when_asked(saver):
    config = at("1")
    ids = []
    for n in range(40):
        config = put(saver, config, {"n": (str(n), n)}, step=n)
        ids.append(config["configurable"]["checkpoint_id"])
    listed = lambda **options: [each.checkpoint["id"] for each in saver.list(at("1"), **options)]  # noqa: E731
    assert listed() == ids[::-1]
    assert listed(limit=3) == ids[:-4:-1]
    assert listed(limit=0) == []
    assert listed(before=at("1", ids[20]), limit=2) == [ids[19], ids[18]]
    # A checkpoint that no longer exists, or that belongs to another thread.
    assert listed(before=at("1", ids[20][:-1] + "~"), limit=1) == [ids[20]]
    assert listed(filter={"step": 7}) == [ids[7]]
    assert listed(filter={"step": 7, "source": "input"}) == []
    sent = commands_of(saver._sync.connection)
    assert next(saver.list(at("1"))).checkpoint["id"] == ids[-1]
    assert len([command for command in sent if command[0] == "CARAVAN.READ"]) <= 5


def test_list_of_all_threads_and_namespaces(saver):
    for thread in ("a/b", "a", "*"):
        for namespace in ("", "child:1", "child:" + "n" * 2000):
            put(saver, at(thread, namespace=namespace), {}, of=thread)
    configs = [each.config["configurable"] for each in saver.list(None)]
    found = [(config["thread_id"], config["checkpoint_ns"]) for config in configs]
    assert len(found) == len(set(found)) == 9
    assert len(list(saver.list({"configurable": {"thread_id": "a"}}))) == 3
    assert len(list(saver.list(None, filter={"of": "*"}))) == 3
    assert len(list(saver.list(None, limit=4))) == 4
    saver.delete_thread("a")
    assert {each.config["configurable"]["thread_id"] for each in saver.list(None)} == {"a/b", "*"}
    assert list(saver.list(at("a"))) == []


def test_a_deleted_thread_is_gone(saver, prefix):
    put(saver, at("1"), {"a": ("1", "old")})
    put(saver, at("1", namespace="child"), {"a": ("1", "old")})
    names = [document(saver, prefix, "1"), document(saver, prefix, "1", "child")]
    saver.delete_thread("1")
    assert ask(saver, "EXISTS", *names) == 0
    assert [ask(saver, "CARAVAN.INFO", name) for name in names] == [None, None]
    assert saver.get_tuple(at("1")) is None
    saver.delete_thread("1")


def test_a_thread_that_others_delete_and_begin_anew(saver, prefix):
    other = CaravanSaver(saver._sync.connection.url, prefix=prefix)
    config = put(saver, at("1"), {"a": ("1", "old"), "b": ("1", "old")})
    other.delete_thread("1")
    # The same number of values as before.
    put(other, at("1"), {"a": ("1", "new"), "b": ("1", "new")})
    # A process that has not noticed the change writes all values of its checkpoint.
    config = put(saver, config, {"a": ("1", "old"), "b": ("2", "newest")}, new=["b"])
    assert other.get_tuple(config).checkpoint["channel_values"] == {"a": "old", "b": "newest"}
    assert len(list(other.list(at("1")))) == 2


def test_pruning_while_others_write(saver, prefix):
    other = CaravanSaver(saver._sync.connection.url, prefix=prefix)
    long = "x" * 1_000
    config = at("1")
    for n in range(60):
        config = put(saver, config, {"long": ("1", long), "n": (str(n), n)}, new=["n"] if n else None)
        saver.put_writes(config, [("w", n)], "task")
        if n % 7 == 3:
            other.prune(["1"])
            assert len(list(other.list(at("1")))) == 1
    found = other.get_tuple(at("1"))
    assert found.checkpoint["channel_values"] == {"long": long, "n": 59}
    assert found.pending_writes == [("task", "w", 59)]
    assert ask(saver, "LLEN", document(saver, prefix, "1")) < 60


def test_a_branch_off_a_checkpoint_that_was_pruned(saver, prefix):
    old = put(saver, at("1"), {"long": ("1", "x" * 1_000), "n": ("1", 1)})
    put(saver, old, {"n": ("2", 2)})
    CaravanSaver(saver._sync.connection.url, prefix=prefix).prune(["1"])
    branch = put(saver, old, {"long": ("1", "x" * 1_000), "n": ("3", 3)}, new=["n"])
    assert saver.get_tuple(branch).checkpoint["channel_values"] == {"long": "x" * 1_000, "n": 3}


def test_two_processes_on_one_thread(server, prefix):
    """Threads add checkpoints, writes, and namespaces, and one of them prunes and deletes runs."""
    errors: list[BaseException] = []

    def work(by: str) -> None:
        try:
            saver = CaravanSaver(server.url, prefix=prefix)
            config = at("1")
            for n in range(40):
                values = {"by": (f"{n}.{by}", by * 100), "all": ("1", "same")}
                config = put(saver, config, values, new=["by"], run_id=by)
                saver.put_writes(config, [("w", f"{by} {n}")], f"task {by}")
                put(saver, at("1", namespace=f"child {by} {n % 3}"), {"n": (str(n), n)})
            saver.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(by,)) for by in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    saver = CaravanSaver(server.url, prefix=prefix)
    found = list(saver.list(at("1")))
    assert len(found) == 80
    for each in found:
        by = each.metadata["run_id"]
        assert each.checkpoint["channel_values"] == {"by": by * 100, "all": "same"}
        assert [task for task, *_ in each.pending_writes] == [f"task {by}"]
    assert len(list(saver.list({"configurable": {"thread_id": "1"}}))) == 160
    saver.delete_for_runs(["a"])
    found = list(saver.list(at("1")))
    assert len(found) == 40 and {each.metadata["run_id"] for each in found} == {"b"}
    assert {each.checkpoint["channel_values"]["all"] for each in found} == {"same"}
    saver.close()


def test_a_copy_is_a_thread_of_its_own(saver):
    config = put(saver, at("1"), {"a": ("1", "x" * 1000)})
    config = put(saver, config, {"a": ("1", "x" * 1000), "b": ("1", "y")}, new=["b"])
    saver.put_writes(config, [("w", 1)], "task")
    put(saver, at("1", namespace="child"), {"c": ("1", "z")})
    saver.copy_thread("1", "2")
    saver.delete_thread("1")
    values = [each.checkpoint["channel_values"] for each in saver.list({"configurable": {"thread_id": "2"}})]
    assert values == [{"a": "x" * 1000, "b": "y"}, {"a": "x" * 1000}, {"c": "z"}]
    assert saver.get_tuple(at("2")).pending_writes == [("task", "w", 1)]
    put(saver, at("3"), {})
    with pytest.raises(ValueError, match="there is a thread '3' already"):
        saver.copy_thread("2", "3")
    assert len(list(saver.list(at("3")))) == 1


def test_nothing_is_stored_twice_when_answers_are_lost(server, losing_proxy, prefix):
    saver = CaravanSaver(losing_proxy.url, prefix=prefix)
    config = at("1")
    for n in range(20):
        config = put(saver, config, {"n": (str(n), n)}, step=n)
        saver.put_writes(config, [("w", n)], "task")
    assert losing_proxy.lost >= 10
    direct = CaravanSaver(server.url, prefix=prefix)
    assert [each.metadata["step"] for each in direct.list(at("1"))] == list(range(19, -1, -1))
    # A checkpoint has four values and its writes have two, so there are no duplicates.
    assert ask(direct, "LLEN", document(direct, prefix, "1")) == 20 * (4 + 2)
    before = losing_proxy.lost
    saver.prune(["1"])
    saver.delete_thread("1")
    assert losing_proxy.lost > before
    assert direct.get_tuple(at("1")) is None


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_graph_over_a_server_that_is_killed(server, prefix, durability):
    saver = CaravanSaver(server.url, prefix=prefix, patience=PATIENCE)
    config = {"configurable": {"thread_id": "1"}}
    kills = iter([2, 5])
    at_step = [next(kills)]

    def kill(step: int) -> None:
        if at_step[0] == step:
            at_step[0] = next(kills, None)
            server.kill_and_restart()

    builder = StateGraph(State)
    names = [f"node {n}" for n in range(8)]
    for n, name in enumerate(names):
        builder.add_node(name, lambda state, n=n, name=name: kill(n) or {"words": [name]})
    for one, other in zip([START, *names], [*names, END]):
        builder.add_edge(one, other)
    result = builder.compile(checkpointer=saver).invoke({"words": ["begin"]}, config, durability=durability)
    assert at_step == [None], "the server was killed"
    assert result["words"] == ["begin", *names]
    fresh = CaravanSaver(server.url, prefix=prefix, patience=PATIENCE)
    found: list[CheckpointTuple] = list(fresh.list(config))
    assert found[0].checkpoint["channel_values"]["words"] == ["begin", *names]
    ids = [each.checkpoint["id"] for each in found]
    assert len(ids) == len(set(ids)) == 10
    saver.close()
    fresh.close()


def test_a_kill_between_a_checkpoint_and_its_writes(server, prefix):
    """A resumed run repeats only unfinished tasks."""
    ran: list[str] = []

    class Parallel(TypedDict):
        words: Annotated[list[str], operator.add]

    def fails(state):
        ran.append("fails")
        if ran.count("fails") == 1:
            server.kill_and_restart()
            raise RuntimeError("the process dies")
        return {"words": ["fails"]}

    def works(state):
        ran.append("works")
        return {"words": ["works"]}

    builder = StateGraph(Parallel)
    builder.add_node("fails", fails)
    builder.add_node("works", works)
    for name in ("fails", "works"):
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    config = {"configurable": {"thread_id": "1"}}
    saver = CaravanSaver(server.url, prefix=prefix, patience=PATIENCE)
    with pytest.raises(RuntimeError, match="the process dies"):
        builder.compile(checkpointer=saver).invoke({"words": []}, config, durability="sync")
    saver.close()
    fresh = CaravanSaver(server.url, prefix=prefix, patience=PATIENCE)
    result = builder.compile(checkpointer=fresh).invoke(None, config)
    assert sorted(result["words"]) == ["fails", "works"]
    assert ran.count("fails") == 2
    fresh.close()


def add_all(words: list[str], writes: list[list[str]]) -> list[str]:
    return words + [word for write in writes for word in write]


class Delta(TypedDict):
    words: Annotated[list[str], DeltaChannel(add_all, snapshot_frequency=5)]


def test_delta_channels(saver, prefix):
    """Delta channels are read in one pass, and are complete after a prune."""
    builder = StateGraph(Delta)
    builder.add_node("adds", lambda state: {"words": [f"after {len(state['words'])}"]})
    builder.add_edge(START, "adds")
    builder.add_edge("adds", END)
    compiled = builder.compile(checkpointer=saver)
    expected: list[str] = []
    for turn in range(12):
        words = compiled.invoke({"words": [f"turn {turn}"]}, at("1"))["words"]
        expected += [f"turn {turn}", f"after {len(expected) + 1}"]
        assert words == expected
        if turn % 5 == 4 or turn == 0:
            before = len(list(saver.list(at("1"))))
            saver.prune(["1"])
            assert len(list(saver.list(at("1")))) <= min(before, 16)
            fresh = builder.compile(checkpointer=CaravanSaver(saver._sync.connection.url, prefix=prefix))
            assert fresh.get_state(at("1")).values["words"] == expected
    assert any("words" not in each.checkpoint["channel_values"] for each in saver.list(at("1")))
    newest = saver.get_tuple(at("1")).config
    history = saver.get_delta_channel_history(config=newest, channels=["words"])
    assert history == BaseCheckpointSaver.get_delta_channel_history(saver, config=newest, channels=["words"])
    assert history == asyncio.run(saver.aget_delta_channel_history(config=newest, channels=["words"]))
