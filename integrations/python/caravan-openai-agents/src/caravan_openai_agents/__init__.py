"""Sessions of the OpenAI Agents SDK in Caravan."""

from caravan_openai_agents.session import CaravanSession

__all__ = ["CaravanSession"]
