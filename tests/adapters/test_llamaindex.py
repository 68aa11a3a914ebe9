import asyncio

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from weftwork.adapters.llamaindex import WeftMemoryBlock, WeftRetriever

from .workspace import QUESTION, opened


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("llamaindex")) as engine:
        yield engine


def test_nodes_have_scores_and_citations(weft):
    retriever = WeftRetriever(weft, similarity_top_k=2)
    found = retriever.retrieve(QUESTION)
    assert len(found) == 2 and found[0].node.metadata["node"] == "dome" and found[0].score > found[1].score
    assert [each.node.id_ for each in asyncio.run(retriever.aretrieve(QUESTION))] == [each.node.id_ for each in found]


def test_a_memory_block_recalls_by_the_last_message_and_keeps_what_leaves(weft):
    thread = weft.threads.create("Kept").id
    block = WeftMemoryBlock(engine=weft, budget=300, thread=thread)

    async def work():
        memory = Memory.from_defaults(
            session_id="s", token_limit=60, chat_history_token_ratio=0.5, token_flush_size=10, memory_blocks=[block]
        )
        for number in range(8):
            await memory.aput(ChatMessage(role="user", content=f"Note {number}: the garden path needs new gravel."))
        await memory.aput(ChatMessage(role="user", content=QUESTION))
        return await memory.aget()

    messages = asyncio.run(work())
    assert "twelve rollers of brass" in "".join(each.content or "" for each in messages)
    kept = [each.text for each in weft.threads.messages(thread)]
    assert kept and kept[0].startswith("Note 0")
