"""Runs commands.txt and some methods of redis-py against a server. Usage: check.py HOST PORT COMMANDS"""

import json
import re
import shlex
import sys
import threading

import redis


def plain(reply):
    """Converts a reply to plain JSON values, with 1 and 0 for Booleans."""
    if isinstance(reply, bool):
        return int(reply)
    if isinstance(reply, bytes):
        return reply.decode()
    if isinstance(reply, dict):
        return {plain(name): plain(value) for name, value in reply.items()}
    if isinstance(reply, (list, tuple, set)):
        return [plain(element) for element in reply]
    return reply


def steps(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                words, expected = line.rstrip("\n").split(" => ", 1)
                yield shlex.split(words), expected


def call(connection, words):
    connection.send_command(*words)
    try:
        return None, plain(connection.read_response())
    except redis.RedisError as error:
        return str(error), None


def agrees(expected, error, reply):
    if expected.startswith("!"):
        # The client strips the first word of some errors.
        start = expected[1:]
        return error is not None and (error.startswith(start) or error.startswith(start.split(" ", 1)[-1]))
    if error is not None:
        return False
    if expected.startswith("/"):
        return re.search(expected[1:-1], json.dumps(reply, separators=(",", ":"))) is not None
    return reply == json.loads(expected)


def run_steps(client, path, protocol):
    connection = client.connection_pool.get_connection()
    listed = {name.decode().upper() for name in client.execute_command("COMMAND LIST")}
    # Messages need a separate connection. The check of ioredis listens for them.
    used = {"SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE"}
    for words, expected in steps(path):
        # The parser of the client understands only the version with which the client was created.
        if words[:2] == ["HELLO", str(5 - protocol)]:
            continue
        error, reply = call(connection, words)
        used.add(words[0].upper())
        assert agrees(expected, error, reply), f"{words}: expected {expected}, was {error or reply!r}"
    missing = listed - used
    assert not missing, f"commands without a line in {path}: {sorted(missing)}"
    connection.disconnect()
    return len(used)


def run_methods(client):
    """Calls methods that applications use."""
    client.delete("py:list", "py:tail")
    assert client.rpush("py:list", "a", "b", "c") == 3
    assert client.lrange("py:list", 0, -1) == [b"a", b"b", b"c"]
    assert client.lpop("py:list", 2) == [b"a", b"b"]
    assert client.ltrim("py:list", 1, -1)
    assert client.llen("py:list") == 0 and not client.exists("py:list")
    with client.pipeline(transaction=True) as pipe:
        assert pipe.rpush("py:list", "d").expire("py:list", 100).execute() == [1, True]
    assert client.ttl("py:list") == 100
    assert b"py:list" in set(client.scan_iter(match="py:*"))
    assert client.type("py:list") == b"list"
    assert client.info("persistence")["loading"] == 0
    assert client.config_get("save") == {"save": ""}
    assert client.client_list()
    assert client.save()
    tail = []
    reader = threading.Thread(
        target=lambda: tail.append(client.execute_command("CARAVAN.READ", "py:tail", "FROM", 0, "BLOCK", 20000))
    )
    reader.start()
    client.rpush("py:tail", "value")
    reader.join()
    next_sequence, values, end, document = plain(tail[0])
    assert [next_sequence, values, end] == [1, [[0, "value"]], 0] and document > 0, tail
    assert client.delete("py:list", "py:tail") == 2


def main():
    host, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    for protocol in (2, 3):
        client = redis.Redis(host, port, protocol=protocol)
        used = run_steps(client, path, protocol)
        run_methods(client)
        client.close()
        print(f"redis-py {redis.__version__}, RESP {protocol}: {used} commands answered as expected")


main()
