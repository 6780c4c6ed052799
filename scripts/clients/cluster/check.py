"""Appends through redis-py's cluster client, to documents of two groups, while a leader is killed. Usage: check.py PORT[,PORT...] KILL_FILE"""

import pathlib
import sys
import time

import redis
from redis.cluster import ClusterNode, RedisCluster

VALUES = 200
# Of the two groups.
NAMES = ["{north}:py", "{cluster}:py"]


def push_until_answered(client, name, value):
    """What an application does about an error whose change may have been made, when a value may be there twice.

    redis-py retries by itself, but without a pause: all its retries are over before a new leader is elected.
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
            # Whoever waits for the file kills a leader.
            kill_file.touch()
        for name in NAMES:
            push_until_answered(client, name, n)
    again = 0
    for name in NAMES:
        found = [int(value) for value in client.lrange(name, 0, -1)]
        # A value whose answer was lost with the leader is sent again by the client.
        assert sorted(set(found)) == list(range(VALUES)), found
        assert client.llen(name) == len(found)
        assert client.cluster_keyslot(name) == client.keyslot(name)
        again += len(found) - VALUES
    assert len({client.get_node_from_key(name).port for name in NAMES}) == 2, "one host has the slots of both names"
    client.close()
    print(f"redis-py {redis.__version__}: {VALUES} values twice over a killed leader, {again} sent again")


main()
