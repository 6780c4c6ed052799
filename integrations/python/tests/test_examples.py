"""Runs the agent of examples/ as its page says, and kills it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def _start(server, name: str) -> subprocess.Popen[str]:
    words = [sys.executable, EXAMPLES / "python" / "agent_journal.py", name, server.url]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def _run(server, name: str) -> list[str]:
    run = _start(server, name)
    printed, _ = run.communicate(timeout=120)
    assert run.returncode == 0, printed
    return printed.splitlines()


def test_the_agent_prints_what_its_page_says(server, prefix):
    page = (EXAMPLES / "README.md").read_text()
    promised = re.search(r"agent_journal.py trip\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert _run(server, prefix + "trip") == promised
    assert _run(server, prefix + "trip") == ["6 of 6 steps are done"]


def test_a_killed_agent_continues_after_its_last_step(server, prefix):
    name = prefix + "killed"
    whole = _run(server, prefix + "whole")[1:]
    printed: list[str] = []
    starts = 0
    while len(printed) < len(whole):
        agent = _start(server, name)
        done = int(agent.stdout.readline().split()[0])
        # A step may be in the journal although the agent was killed before it printed it.
        assert len(printed) <= done <= len(printed) + 1
        printed = whole[:done]
        if done < len(whole):
            printed.append(agent.stdout.readline().rstrip("\n"))
        agent.kill()
        agent.communicate()
        starts += 1
        assert printed == whole[: len(printed)]
    assert 3 <= starts <= len(whole) + 1


def test_of_two_processes_with_one_agent_one_stops(server, prefix):
    agents = [_start(server, prefix + "twice") for _ in range(2)]
    outputs = [agent.communicate(timeout=120)[0] for agent in agents]
    assert sorted(agent.returncode for agent in agents) == [0, 1], outputs
