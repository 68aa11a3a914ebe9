"""LiteLLM: a callback of its proxy that adds sources to requests, and stores answers."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from weftwork.asynchronous import AsyncWeft
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import MissingExtra
from weftwork.server.proxy.bodies import CHAT, Body
from weftwork.server.proxy.conversations import Conversation, Conversations

try:
    from litellm.integrations.custom_logger import CustomLogger
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for LiteLLM", "litellm") from error

OFF = "weftwork_inject"
RECEIPT = "weftwork_receipt"
MOST_OPEN = 1_000


class WeftCallback(CustomLogger):
    """Makes each new message of a chat a turn; name an instance in `litellm_settings.callbacks` of the proxy.

    `metadata={"weftwork_inject": False}` of a request turns it off; its metadata get the id of the receipt.
    """

    def __init__(
        self,
        weft: Weft,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        budget: int | None = None,
    ) -> None:
        super().__init__()
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._conversations = Conversations(AsyncWeft(weft), user=user, workspace=workspace, budget=budget)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Put sources before the messages of a request."""
        metadata = data.setdefault("metadata", {})
        if "messages" not in data or metadata.get(OFF) is False:
            return data
        body = Body(CHAT, {"messages": data["messages"]})
        conversation = await self._conversations.next(body, None)
        if conversation is not None:
            changed = json.loads(body.with_sources(conversation.head, conversation.prefixes))
            data["messages"] = changed["messages"]
            metadata[RECEIPT] = conversation.receipt
            self._open[conversation.receipt] = conversation
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """Store the model's answer in the thread, with the check of its citations."""
        conversation = self._open.pop((data.get("metadata") or {}).get(RECEIPT, ""), None)
        choices = getattr(response, "choices", None)
        if conversation is not None and choices:
            await self._conversations.answered(conversation, choices[0].message.content or "", "")
        return response
