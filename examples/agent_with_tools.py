"""An agent whose long tool results stay out of the prompt, and can be searched and cited.

python examples/agent_with_tools.py "Which service failed?" < server.log

A tool result that is too long becomes a document of the thread: the model gets a preview and a handle, and the next
turn finds the part that answers.
"""

import os
import sys

from weftwork import Weft
from weftwork.faces.research import ChatModel, ModelSettings

RULES = "Answer from the quoted sources and tool results. Cite them by their [id]."


def run(weft: Weft, model: ChatModel, question: str, output: str) -> tuple[str, str]:
    """The preview of a tool's output that the model is shown, and its answer when it has read what matters."""
    thread = weft.threads.create("An agent").id
    first = weft.turn(thread, "Read the log.", rules=RULES, budget=3000)
    result = first.tool("read_log", output)  # stored whole, shown in part
    weft.reply(thread, f"I have read the log: {result.text}")
    turn = weft.turn(thread, question, rules=RULES, budget=3000)
    answer = model.complete(turn.openai())
    weft.reply(thread, answer)
    return result.text, answer


def main(question: str) -> None:
    """Take standard input as the output of a tool."""
    settings = ModelSettings.from_mapping({}, os.environ)
    if settings is None:
        sys.exit("name a model: set WEFTWORK_MODEL_NAME, WEFTWORK_MODEL_URL and WEFTWORK_MODEL_KEY")
    with Weft.open("agent.weft") as weft:
        preview, answer = run(weft, ChatModel(settings), question, sys.stdin.read())
    print(f"{preview}\n\n{answer}")


if __name__ == "__main__":
    main(sys.argv[1])
