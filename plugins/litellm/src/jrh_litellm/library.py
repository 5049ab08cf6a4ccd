"""Import litellm once, lazily, and keep it quiet."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import warnings
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, Final

_FLUSH_SECONDS: Final = 5.0
_SETTINGS: Final = {
    "suppress_debug_info": True,
    "redact_messages_in_exceptions": True,
    "set_verbose": False,
    "telemetry": False,
    # Environment variables can switch these on without the suite knowing; the request would differ from the record.
    "drop_params": False,
    "modify_params": False,
    "num_retries": None,
    "cache": None,
}
_CALLBACKS: Final = ("callbacks", "input_callback", "success_callback", "failure_callback", "service_callback")
_LOGGERS: Final = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load() -> Any:
    """Import litellm once and disable the features that would affect measurements.

    No price list is fetched, no `.env` is read, nothing is printed, no retry, cache or callback is left on.
    """
    litellm = _import_litellm()
    # litellm builds some types at the first call and for unusual answers; pydantic warns about both. Others, such as
    # pytest, take filters away again.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\b")
    return litellm


@lru_cache(maxsize=1)
def _import_litellm() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
    for name, value in _SETTINGS.items():
        setattr(litellm, name, value)
    for name in _CALLBACKS:
        setattr(litellm, name, [])
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # httpx logs every address at level INFO, and some providers want the key in the address.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return litellm


@lru_cache(maxsize=1)
def freeze_garbage() -> None:
    """Exclude all current objects from garbage collection, once.

    litellm creates some 370,000 long-lived objects. A full collection walks them all and blocks every call of the run
    for 150 to 190 ms. The price: reference cycles that exist at this moment are never freed.
    """
    gc.freeze()


async def close_clients() -> None:
    """Close litellm's connections and end its background work, so that nothing is left open when the loop ends."""
    litellm = load()
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
    from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

    # litellm's callbacks run in the background; none is needed here, so do not wait long for them.
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(GLOBAL_LOGGING_WORKER.flush(), _FLUSH_SECONDS)
    await GLOBAL_LOGGING_WORKER.stop()
    close: Callable[[], Awaitable[None]] = close_litellm_async_clients
    await close()
    # The cache knows clients by the number of their event loop, and a later loop can get the same number.
    litellm.in_memory_llm_clients_cache.flush_cache()
