import asyncio

import pytest

pytest.importorskip("agent_framework")

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

from weftwork.adapters.agent_framework import WeftContextProvider
from weftwork.faces.memory import Memories

from .workspace import QUESTION, opened


class Scripted(BaseChatClient):
    """A client of a model that keeps what it was sent."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def _inner_get_response(self, *, messages, stream=False, options, **kwargs):
        async def answer():
            self.seen.append(([message.text for message in messages], options.get("instructions")))
            return ChatResponse(messages=[Message(role="assistant", contents=["On brass rollers."])])

        return answer()


def test_each_run_of_an_agent_is_a_turn(tmp_path):
    with opened(tmp_path) as weft:
        Memories(weft).remember("The user is called Ana.", pinned=True)
        client = Scripted()
        agent = Agent(client=client, context_providers=[WeftContextProvider(weft)])

        async def work():
            session = agent.create_session()
            await agent.run(QUESTION, session=session)
            await agent.run("thanks", session=session)

        asyncio.run(work())
        texts, instructions = client.seen[0]
        assert "twelve rollers of brass" in "".join(texts) and texts[-1] == QUESTION
        assert "called Ana" in f"{instructions}{texts}"
        (thread,) = weft.threads.list()
        said = [each.text for each in weft.threads.messages(thread.id)]
        assert said == [QUESTION, "On brass rollers.", "thanks", "On brass rollers."]
        assert client.seen[1][0][-1] == "thanks"
