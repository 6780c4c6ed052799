"""The conformance suite of LangGraph."""

from __future__ import annotations

import asyncio

from caravan_langgraph import CaravanSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.conformance.report import ProgressCallbacks


def test_the_suite_passes_whole(server, prefix):
    @checkpointer_test(name="CaravanSaver")
    async def saver():
        one = CaravanSaver(server.url, prefix=prefix)
        yield one
        await one.aclose()

    report = asyncio.run(validate(saver, progress=ProgressCallbacks.verbose()))
    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert not failures
    # No test is skipped.
    assert {name for name, result in report.results.items() if result.passed} == {each.value for each in Capability}
    assert report.conformance_level() == "FULL"
