"""Keeps LangGraph's checkpoints in Caravan."""

from caravan_langgraph.saver import CaravanSaver

__all__ = ["CaravanSaver"]
