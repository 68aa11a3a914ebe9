import asyncio
import json

import pytest

pytest.importorskip("agents")

from agents import Agent, ModelResponse, RunConfig, Runner, Session, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from weftwork.adapters.openai_agents import WeftSession, context_tool

from .workspace import QUESTION, opened


class Scripted(Model):
    """A model that says what it is told to, and keeps what it was sent."""

    def __init__(self, *outputs):
        self.outputs, self.seen = list(outputs), []

    async def get_response(self, system_instructions, input, *_, **__):
        self.seen.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def said(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def test_a_session_is_a_thread_and_a_tool_asks_the_workspace(tmp_path):
    with opened(tmp_path) as weft:
        thread = weft.threads.create("An agent").id
        session = WeftSession(weft, thread)
        assert isinstance(session, Session)
        arguments = json.dumps({"query": QUESTION})
        call = ResponseFunctionToolCall(
            call_id="c", name="find_context", arguments=arguments, type="function_call", id="f"
        )
        model = Scripted(call, said("On rollers."), said("Copper."))
        agent = Agent(name="a", model=model, tools=[context_tool(weft, budget=300)])

        async def work():
            settings = RunConfig(tracing_disabled=True)
            first = await Runner.run(agent, QUESTION, session=session, run_config=settings)
            second = await Runner.run(agent, "And the roof?", session=session, run_config=settings)
            return first.final_output, second.final_output, await session.get_items()

        first, second, items = asyncio.run(work())
        assert (first, second) == ("On rollers.", "Copper.")
        output = next(each for each in model.seen[1] if each.get("type") == "function_call_output")
        assert "twelve rollers of brass" in output["output"]
        kinds = [each.get("type") or each["role"] for each in items]
        assert kinds == ["user", "function_call", "function_call_output", "assistant", "user", "assistant"]
        assert model.seen[2][0] == {"role": "user", "content": QUESTION}
        assert asyncio.run(session.get_items(2))[0] == {"role": "user", "content": "And the roof?"}
        assert asyncio.run(session.pop_item()) == {"role": "assistant", "content": "Copper."}
        asyncio.run(session.clear_session())
        assert asyncio.run(session.get_items()) == [] and asyncio.run(session.pop_item()) is None
