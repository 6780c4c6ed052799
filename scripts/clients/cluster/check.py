"""Appends to two Raft groups through redis-py's cluster client while a leader is killed. Usage: check.py PORT[,PORT...] KILL_FILE"""

import pathlib
import sys
import time

import redis
from redis.cluster import ClusterNode, RedisCluster

VALUES = 200
# One document for each of the two groups.
NAMES = ["{north}:py", "{cluster}:py"]


def push_until_answered(client, name, value):
    """Retries as an application does that accepts duplicates when an append with an error may have succeeded.

    redis-py retries automatically, but without a pause, so its retries end before the election of a new leader.
    """
    deadline = time.monotonic() + 60
    while True:
        try:
            return client.rpush(name, value)
        except (redis.RedisError, redis.exceptions.RedisClusterException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def main():
    ports, kill_file = [int(port) for port in sys.argv[1].split(",")], pathlib.Path(sys.argv[2])
    client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", port) for port in ports])
    for n in range(VALUES):
        if n == VALUES // 2:
            # The script that waits for this file kills a leader.
            kill_file.touch()
        for name in NAMES:
            push_until_answered(client, name, n)
    again = 0
    for name in NAMES:
        found = [int(value) for value in client.lrange(name, 0, -1)]
        # The client repeats an append whose reply was lost with the leader.
        assert sorted(set(found)) == list(range(VALUES)), found
        assert client.llen(name) == len(found)
        assert client.cluster_keyslot(name) == client.keyslot(name)
        again += len(found) - VALUES
    assert len({client.get_node_from_key(name).port for name in NAMES}) == 2, "one node has the slots of both names"
    client.close()
    print(f"redis-py {redis.__version__}: {VALUES} values twice over a killed leader, {again} sent again")


main()
