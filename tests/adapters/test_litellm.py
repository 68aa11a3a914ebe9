import asyncio

import pytest

pytest.importorskip("litellm")

import litellm

from weftwork.adapters.litellm import WeftCallback

from .workspace import QUESTION, opened


def user(text):
    return {"role": "user", "content": text}


def test_a_request_of_the_proxy_gets_sources(tmp_path):
    with opened(tmp_path) as weft:
        callback = WeftCallback(weft)

        async def call(*messages, **metadata):
            data = {"model": "m", "messages": list(messages), "metadata": metadata}
            return await callback.async_pre_call_hook(None, None, data, "completion")

        async def work():
            first = await call(user(QUESTION))
            assert "twelve rollers of brass" in first["messages"][0]["content"]
            assert weft.receipts.get(first["metadata"]["weftwork_receipt"])
            answer = {"role": "assistant", "content": "On rollers."}
            second = await call(user(QUESTION), answer, user("Which handle has the gate?"))
            assert second["messages"][:2] == [*first["messages"], answer]
            assert "silver handle" in second["messages"][2]["content"]
            off = await call(user(QUESTION), weftwork_inject=False)
            assert off["messages"] == [user(QUESTION)]
            # What LiteLLM does with the messages afterwards.
            made = await litellm.acompletion(
                model="gpt-5", messages=first["messages"], mock_response="On rollers.", api_key="none"
            )
            assert made.choices[0].message.content == "On rollers."
            fresh = await call(user("Where is a second key?"))
            await callback.async_post_call_success_hook(fresh, None, made)
            assert weft.threads.messages(weft.threads.list()[0].id)[-1].text == "On rollers."

        asyncio.run(work())
