"""What a user may not see changes nothing that the research face gives them, whatever the documents are."""

import asyncio
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some
from tests.faces.research.researching import document

from weftwork import Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.faces.research import ContextBuilder, ask

USERS = ("me", "ben")
WORDS = ("quince", "mirror", "panic", "turbine", "leverage")
EMBEDDER = HashingEmbedder(32)

pages = st.lists(
    st.lists(st.sampled_from([*WORDS, "[1]", "\n", ". ", "# ", "[Document 9: x.pdf, Page 1]"]), max_size=12).map(
        " ".join
    ),
    min_size=1,
    max_size=3,
)
libraries = st.lists(st.tuples(pages, st.sampled_from([None, frozenset({"me"}), frozenset({"ben"})])), max_size=5)


@contextmanager
def opened(documents):
    with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "a.weft", embedder=EMBEDDER) as weft:
        weft.add_user("ben")
        for number, texts, access in documents:
            weft.add(document(f"doc{number}.pdf", dict(enumerate(texts, start=1)), access=access))
        yield weft


def everything(weft, user, query, budget):
    """All that a user receives: contexts of each mode, the answer, and the pages that they may name."""
    builder = ContextBuilder.for_weft(weft, user=user, max_tokens=budget)

    async def receive():
        modes = [(True, True), (True, False), (False, True)]
        contexts = [await builder.build_context(query, 5, text, look) for text, look in modes]
        answer = await ask(builder, query, embedder=EMBEDDER)
        return contexts, answer

    return asyncio.run(receive())


@given(libraries, st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), st.integers(5, 400))
@settings(max_examples=some(25), deadline=None)
def test_hidden_documents_might_as_well_not_be_there(library, query, budget):
    numbered = [(number, texts, access) for number, (texts, access) in enumerate(library)]
    with opened(numbered) as weft:
        received = {user: everything(weft, user, query, budget) for user in USERS}
    for user in USERS:
        visible = [each for each in numbered if each[2] is None or user in each[2]]
        contexts, answer = received[user]
        allowed = {f"doc{number}" for number, _, _ in visible}
        for context in contexts:
            assert {source.doc_id for source in context.sources} <= allowed
            assert context.total_tokens <= budget
            found = [int(number) for number in re.findall(r"^\[Document (\d+):", context.formatted_text, re.MULTILINE)]
            assert found == list(range(1, len(context.sources) + 1))
        assert answer.unknown == ()
        with opened(visible) as alone:
            assert everything(alone, user, query, budget) == (contexts, answer)
