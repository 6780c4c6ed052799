"""Code that the integrations share: connections with retries, and journals without duplicate appends."""

from caravan_client.connection import AsyncConnection, CaravanError, Connection, Request, Steps, checked
from caravan_client.journal import Backwards, Commands, Journal, Moved, blob_of, decode, encode, split

__all__ = [
    "AsyncConnection",
    "Backwards",
    "CaravanError",
    "Commands",
    "Connection",
    "Journal",
    "Moved",
    "Request",
    "Steps",
    "blob_of",
    "checked",
    "decode",
    "encode",
    "split",
]
