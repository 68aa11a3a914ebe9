"""Answers over PDFs, notes and all else in a folder, with citations that were checked.

pip install 'weftwork[documents]'
python examples/cited_answers.py reports/ "What does the plan pay for hearing aids?"

Without a model the answer quotes the best sentences of the sources.
"""

import os
import sys

from weftwork import Weft
from weftwork.faces.research import ChatModel, ModelSettings, ResearchAnswer, ask_events, research


def cited_answer(weft: Weft, question: str) -> ResearchAnswer:
    """The answer, its numbered sources, and the numbers it cites that no source has."""
    settings = ModelSettings.from_mapping({}, os.environ)
    sources = research(weft, question, user="me", workspace="main", max_tokens=6000)
    model = None if settings is None else ChatModel(settings)
    *_, (_, answer) = ask_events(question, sources, model=model, embedder=weft.tools.embedder, stream=False)
    assert isinstance(answer, ResearchAnswer)
    return answer


def main(folder: str, question: str) -> None:
    """Add a folder, and answer one question about it."""
    with Weft.open("answers.weft") as weft:
        for skipped in weft.add(folder).skipped:
            print(f"skipped {skipped}", file=sys.stderr)
        answer = cited_answer(weft, question)
    print(answer.answer)
    for number in answer.cited:
        source = answer.sources[number - 1]
        print(f"[{number}] {source.filename}" + (f", page {source.page}" if source.page else ""))
    for number in answer.unknown:
        print(f"[{number}] is no source", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
