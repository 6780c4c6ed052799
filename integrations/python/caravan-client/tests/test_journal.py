from __future__ import annotations

import threading

import pytest
from caravan_client import Backwards, CaravanError, Connection, Journal, Moved, decode, split
from caravan_client.journal import MOST_APPEND_BYTES


# A timeout for the start of a server on a busy machine.
PATIENCE = 300.0


def append(connection: Connection, name: str, text: str, **options) -> None:
    """Appends a record, also after concurrent appends of other writers."""
    for _ in range(100):
        journal = Journal(name)
        connection.run(journal.look())
        if connection.run(journal.write({}, {}, [lambda _: {"text": text}], **options)):
            return
    raise AssertionError("others keep appending")


def texts(connection: Connection, name: str) -> list[str]:
    document, found = Backwards(name), []
    while (records := connection.run(document.more())) is not None:
        found += [record["text"] for _, record in records]
    return found[::-1]


def finish(connection: Connection, steps, request):
    """Runs the remaining steps from a request on, and returns their result."""
    with pytest.raises(StopIteration) as end:
        while True:
            request = steps.send(connection._attempt(request))
    return end.value.value


@pytest.fixture
def connection(server):
    connection = Connection(server.url)
    yield connection
    connection.close()


def test_records_come_back_in_their_order_however_many(connection, prefix):
    name = prefix + "ünusual 名前"
    written = [f"text {n}" for n in range(100)]
    for text in written:
        append(connection, name, text)
    assert texts(connection, name) == written
    assert texts(connection, prefix + "none") == []


def test_only_who_has_seen_the_end_appends(connection, prefix):
    one, other = Journal(prefix), Journal(prefix)
    assert connection.run(one.write({}, {}, [lambda _: {"text": "first"}]))
    assert not connection.run(other.write({}, {}, [lambda _: {"text": "unseen"}]))
    connection.run(other.look())
    assert connection.run(other.write({}, {}, [lambda _: {"text": "second"}]))
    assert texts(connection, prefix) == ["first", "second"]


def test_a_transaction_is_refused_as_a_whole(connection, prefix):
    append(connection, prefix, "kept")
    late = Journal(prefix)
    trim = ("CARAVAN.TRIM", prefix, "TO", 1)
    assert not connection.run(late.write({}, {}, [lambda _: {"text": "late"}], last_with=(trim,)))
    assert texts(connection, prefix) == ["kept"]


def test_what_is_longer_than_an_append_comes_whole(connection, prefix):
    blob = bytes(at % 251 for at in range(2 * MOST_APPEND_BYTES + 12345))
    parts = {"blob": split(blob, 1024 * 1024)}
    sequences: dict = {}
    journal = Journal(prefix)

    def record(at: int) -> dict:
        return {"text": "behind it", "parts": [sequences["blob", part] for part in range(len(parts["blob"]))]}

    assert connection.run(journal.write(parts, sequences, [record]))
    document = Backwards(prefix)
    ((_, found),) = connection.run(document.more())
    assert connection.run(document.blobs([found["parts"]])) == [blob]


def test_parts_that_others_trimmed_meanwhile_are_written_again(connection, prefix):
    blob = bytes(MOST_APPEND_BYTES + 1)
    parts = {"blob": split(blob, 1024 * 1024)}
    sequences: dict = {}
    journal = Journal(prefix)
    steps = journal.write(parts, sequences, [lambda _: {"text": "behind it"}])
    # The first append succeeds, and then another process trims it.
    request = steps.send(connection._attempt(next(steps)))
    other = Journal(prefix)
    connection.run(other.look())
    trim = ("CARAVAN.TRIM", prefix, "TO", other.next)
    assert connection.run(other.write({}, {}, [lambda _: {"text": "other"}], last_with=(trim,)))
    assert finish(connection, steps, request) is False
    connection.run(journal.look())
    assert connection.run(journal.write(parts, sequences, [lambda _: {"text": "behind it"}]))
    document = Backwards(prefix)
    while connection.run(document.more()) is not None:
        pass
    assert connection.run(document.blobs([[sequences["blob", part] for part in range(4)]])) == [blob]


def test_an_append_whose_answer_is_lost_is_made_once(server, losing_proxy, prefix):
    mine, theirs = Connection(losing_proxy.url), Connection(server.url)

    def others() -> None:
        for n in range(20):
            append(theirs, prefix, f"theirs {n}")

    thread = threading.Thread(target=others)
    thread.start()
    for n in range(20):
        append(mine, prefix, f"mine {n}")
    thread.join()
    found = texts(theirs, prefix)
    assert losing_proxy.lost >= 10
    assert [text for text in found if text.startswith("mine")] == [f"mine {n}" for n in range(20)]
    assert len(found) == 40


def test_an_append_whose_answer_is_lost_and_that_is_replaced_is_not_made_again(connection, prefix):
    journal = Journal(prefix)
    steps = journal.write({}, {}, [lambda _: {"text": "mine"}])
    append_mine = next(steps)
    connection._attempt(append_mine)
    token = decode(append_mine.commands[0][4])["token"]
    other = Journal(prefix)
    connection.run(other.look())
    trim = ("CARAVAN.TRIM", prefix, "TO", other.next)
    compacted = {"text": "compacted", "replaces": [token]}
    assert connection.run(other.write({}, {}, [lambda _: compacted], last_with=(trim,)))
    # The reply was lost, so the request is sent again.
    assert finish(connection, steps, append_mine) is True
    assert texts(connection, prefix) == ["compacted"]


def test_a_reader_is_told_that_what_it_reads_was_replaced(connection, prefix):
    for n in range(20):
        append(connection, prefix, str(n))
    document = Backwards(prefix)
    connection.run(document.more())
    append(connection, prefix, "compacted", last_with=(("CARAVAN.TRIM", prefix, "TO", 20),))
    with pytest.raises(Moved):
        connection.run(document.more())


def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(server, prefix):
    acknowledged: list[str] = []
    in_their_midst = threading.Event()

    def write(by: str) -> None:
        connection = Connection(server.url, patience=PATIENCE)
        for n in range(200):
            append(connection, prefix, f"{by} {n}")
            acknowledged.append(f"{by} {n}")
            if len(acknowledged) >= 40:
                in_their_midst.set()

    threads = [threading.Thread(target=write, args=(by,)) for by in "ab"]
    for thread in threads:
        thread.start()
    assert in_their_midst.wait(60)
    server.kill_and_restart()
    assert len(acknowledged) < 400, "the server was killed in the midst"
    for thread in threads:
        thread.join()
    assert sorted(texts(Connection(server.url), prefix)) == sorted(acknowledged)
    assert len(acknowledged) == 400


def test_a_server_that_stays_away_is_an_error_in_time():
    away = Connection("redis://someone:secret@127.0.0.1:1", patience=0.3)
    with pytest.raises(CaravanError, match="127.0.0.1:1: no answer within 0.3 s") as error:
        away.run(Journal("x").look())
    assert "secret" not in str(error.value)


def test_values_that_others_wrote_are_refused(connection, prefix):
    connection._redis.rpush(prefix, "no record")
    with pytest.raises(CaravanError, match="something else has written"):
        texts(connection, prefix)


def test_wrong_secret_is_not_retried(tmp_path, monkeypatch, server):
    monkeypatch.setenv("CARAVAN_PASSWORD", "secret")
    locked = type(server)(tmp_path)
    locked.start()
    connection = Connection(locked.url.replace("redis://", "redis://:wrong@"), patience=5.0)
    try:
        with pytest.raises(CaravanError) as rejected:
            connection.run(Journal("document").look())
        assert "no answer within" not in str(rejected.value)
    finally:
        connection.close()
        locked.kill()
