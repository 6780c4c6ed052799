"""Tests that run the programs of the pages unchanged except for the address of a server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "page, printed",
    [("caravan-langgraph", "I have heard 3"), ("caravan-openai-agents", "[{'role': 'user', 'content': 'Hello'}]")],
)
def test_page(server, tmp_path, page, printed):
    text = (HERE / page / "README.md").read_text()
    assert f"prints `{printed}`" in text
    program = tmp_path / "program.py"
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    program.write_text(code.replace("redis://127.0.0.1:6380", server.url))
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout.strip()) == (0, printed), run.stderr
