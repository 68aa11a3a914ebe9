"""A chat over your notes that remembers what you tell it.

python examples/chat_with_memory.py ~/notes

A line that begins with "remember " is kept; every other line is a question.
"""

import os
import sys

from weftwork import Weft
from weftwork.faces.memory import Memories
from weftwork.faces.research import ChatModel, ModelSettings

RULES = "Answer from the quoted sources. Cite them by their [id]. Say so if they do not answer."


def answer(weft: Weft, model: ChatModel, thread: str, message: str) -> str:
    """The answer to one message of a thread; a line to remember is confirmed."""
    if message.startswith("remember "):
        Memories(weft).remember(message.removeprefix("remember "))
        return "I will remember that."
    turn = weft.turn(thread, message, rules=RULES, budget=4000)  # history, memories and sources in one budget
    reply = model.complete(turn.openai())
    checked = weft.reply(thread, reply).check
    invented = ", ".join(checked.unknown)
    return f"{reply}\n(no source has the id {invented})" if invented else reply


def main(folder: str) -> None:
    """Read questions from standard input until it ends."""
    settings = ModelSettings.from_mapping({}, os.environ)
    if settings is None:
        sys.exit("name a model: set WEFTWORK_MODEL_NAME, WEFTWORK_MODEL_URL and WEFTWORK_MODEL_KEY")
    with Weft.open("chat.weft") as weft:
        weft.add(folder)
        thread = weft.threads.create("A chat").id
        for line in sys.stdin:
            print(answer(weft, ChatModel(settings), thread, line.strip()))


if __name__ == "__main__":
    main(sys.argv[1])
