import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("langchain_tests")

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

from weftwork.adapters.langchain import WeftChatHistory, WeftRetriever

from .workspace import QUESTION, opened


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("langchain")) as engine:
        yield engine


class TestStandardTestsOfLangChain(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def with_an_engine(self, weft):
        type(self).engine = weft

    @property
    def retriever_constructor(self):
        return WeftRetriever

    @property
    def retriever_constructor_params(self):
        return {"engine": self.engine}

    @property
    def retriever_query_example(self):
        return "the dome"


def test_documents_have_their_citations_and_a_budget_gives_one_context(weft):
    best, *_ = WeftRetriever(engine=weft).invoke(QUESTION)
    assert best.page_content.startswith("The dome turns") and best.metadata["node"] == "dome"
    assert best.id == best.metadata["citation"]
    (packed,) = WeftRetriever(engine=weft, budget=200).invoke(QUESTION)
    assert packed.metadata["tokens"] <= 200 and best.id in packed.metadata["citations"]
    assert WeftRetriever(engine=weft, budget=200).invoke("zzqq xxyy") == []


def test_a_chat_is_a_thread(weft):
    thread = weft.threads.create("A chat").id
    history = WeftChatHistory(weft, thread)
    reference = InMemoryChatMessageHistory()
    for each in (history, reference):
        each.add_messages([HumanMessage("Who greases the rollers?"), AIMessage("Nobody yet.")])
        each.add_user_message("Then I will.")
    assert [(m.type, m.content) for m in history.messages] == [(m.type, m.content) for m in reference.messages]
    history.clear()
    assert history.messages == []


def test_a_chain_with_history_goes_on(weft):
    thread = weft.threads.create("A chain").id
    model = GenericFakeChatModel(messages=iter([AIMessage("Hello."), AIMessage("Again.")]))
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")])
    chain = RunnableWithMessageHistory(
        prompt | model, lambda session_id: WeftChatHistory(weft, session_id), input_messages_key="input",
        history_messages_key="history",
    )  # fmt: skip
    for text in ("hi", "hi again"):
        chain.invoke({"input": text}, {"configurable": {"session_id": thread}})
    assert [m.content for m in WeftChatHistory(weft, thread).messages] == ["hi", "Hello.", "hi again", "Again."]
