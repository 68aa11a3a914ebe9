import asyncio

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from weftwork.adapters.pydantic_ai import weft_history, weft_toolset

from .workspace import QUESTION, opened


def test_an_agent_asks_with_tools(tmp_path):
    seen = []

    def model(messages, info):
        seen.append(messages[-1].parts[-1])
        if len(seen) == 1:
            assert {tool.name for tool in info.function_tools} == {"find_context", "search", "read"}
            return ModelResponse(parts=[ToolCallPart("find_context", {"query": QUESTION})])
        return ModelResponse(parts=[TextPart("On rollers.")])

    with opened(tmp_path) as weft:
        agent = Agent(FunctionModel(model), toolsets=[weft_toolset(weft, budget=300)])
        assert agent.run_sync(QUESTION).output == "On rollers."
        assert "twelve rollers of brass" in seen[1].content


def test_sources_stand_before_each_prompt_and_stay_there(tmp_path):
    sent = []

    def model(messages, info):
        sent.append([str(part.content) for message in messages for part in message.parts])
        return ModelResponse(parts=[TextPart("Yes.")])

    with opened(tmp_path) as weft:
        thread = weft.threads.create("Prompts").id
        agent = Agent(FunctionModel(model), capabilities=[ProcessHistory(weft_history(weft, thread))])

        async def work():
            first = await agent.run(QUESTION)
            return await agent.run("Which handle has the gate?", message_history=first.all_messages())

        asyncio.run(work())
    assert "twelve rollers of brass" in sent[0][0] and sent[0][0].endswith(QUESTION)
    assert sent[1][0] == sent[0][0]
    assert "silver handle" in sent[1][-1] and "rollers" not in sent[1][-1]
