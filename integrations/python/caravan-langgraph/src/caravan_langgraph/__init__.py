"""A LangGraph checkpointer that stores checkpoints in Caravan."""

from caravan_langgraph.saver import CaravanSaver

__all__ = ["CaravanSaver"]
