"""Parsing of a query: its words, the types it asks for, a period, explicit references."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from weftwork.text.analysis import MARKS, is_unspaced, spaced
from weftwork.text.languages import ENGLISH, FUNCTION_WORDS, language_of
from weftwork.text.periods import MONTHS, WEEKDAYS, Period, ahead_of, period_of
from weftwork.text.pointing import subject_of, wants_linked, wants_similar

MOST_QUOTED = 120
STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just me more most my no nor not now of off on once only or other our
    out over own same she should so some such than that the their them then there these they this those through to
    too under until up us very was we were what when where which while who whom why will with would you your yours
    tell show give find please""".split()
)

COURTESIES = frozenset(
    """thanks thank thx cheers ok okay alright fine cool great perfect nice awesome excellent wonderful brilliant super
    good well lovely sure agreed understood noted got hi hello hey morning afternoon evening night bye goodbye welcome
    sorry much lot lots wow haha lol done see soon later day weekend helpful helps helped appreciate makes
    sense danke dank schön vielen merci beaucoup gracias grazie obrigado obrigada bedankt tack hallo bonjour hola
    ciao""".split()
)
"""Words of thanks, greetings and assent."""
ALWAYS_COURTEOUS = frozenset(
    """thanks thank thx cheers ok okay hi hello hey bye goodbye lol haha wow danke merci gracias grazie obrigado
    obrigada bedankt hallo bonjour hola ciao""".split()
)

BESIDE = frozenset("today tonight there everyone everybody all friend my you to and so".split())
"""Words that may stand beside a question that is a greeting: "how do you do it?" is none."""
_HOW_ARE_YOU = re.compile(
    r"\b(?:how are (?:you|things)(?: doing)?|how(?:'s| is) (?:it|everything) going|how have you been|how do you do|"
    r"what(?:'s| is) up|(?:nice|good|great) to (?:meet|see) you|are you there|wie geht(?: e|')s(?: dir| ihnen)?|"
    r"comment (?:ça va|vas-tu|allez-vous)|ça va|(?:cómo|como) (?:estás|está)|qué tal|come stai|come va|tudo bem)\b"
)
"""Questions that are greetings."""

INTENTS: dict[str, tuple[str, ...]] = {
    "task": ("todo", "kanban_card", "task"),
    "tasks": ("todo", "kanban_card", "task"),
    "subtask": ("todo", "kanban_card", "task"),
    "subtasks": ("todo", "kanban_card", "task"),
    "todo": ("todo", "kanban_card", "task"),
    "todos": ("todo", "kanban_card", "task"),
    "overdue": ("todo", "kanban_card", "task"),
    "summary": ("page",),
    "summarise": ("page",),
    "summarize": ("page",),
    "decision": ("decision",),
    "decisions": ("decision",),
    "decided": ("decision",),
    "meeting": ("meeting",),
    "meetings": ("meeting",),
    "file": ("file",),
    "files": ("file",),
}
"""Words that ask for a type of node."""

_LETTERS = rf"[^\W_](?:[^\W_]|[{MARKS}])*"
_WORD = re.compile(rf"{_LETTERS}(?:['’-]{_LETTERS})*")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})")
_BLOCK = re.compile(r"\(\(([\w-]{9,64})\)\)")
_PATH = re.compile(r"(?:(?<=\s)|^)@?([\w./~-]*[\w-]\.[A-Za-z]\w{0,9})\b")
_BEGINS = re.compile(r"(?:^|[.!?:\n])[^\w,;]*\Z")
"""Before the first word of a sentence."""
_NOUNS_WITH_CAPITALS = ("german",)
_OF_ME = ("I'", "I\u2019")
_OF_TIMES = frozenset((*MONTHS, *WEEKDAYS))
SHORT_WORD = 3
"""Letters of words that titles write small."""
_TAG = re.compile(r"(?:(?<=\s)|^)#([\w/-]+)")
_OVERDUE = re.compile(r"\b(?:over-?due|past[ -]due|(?:past|missed|behind)(?: \w+)? (?:due dates?|deadlines?))\b")
_DUE = re.compile(r"\b(?:due|deadlines?|fällig)\b")
_PART = re.compile(r"[^\W_]+")
State = Literal["open", "in progress", "done"]
_STATES: dict[State, re.Pattern[str]] = {
    "in progress": re.compile(
        r"\b(?:in[ -]progress|ongoing|being (?:done|worked on)|(?:have|has|are|is) started|doing)\b"
    ),
    "open": re.compile(
        r"\b(?:open|unfinished|undone|outstanding|pending|remaining|remains?|left|incomplete|uncompleted"
        r"|(?:not|n't) (?:yet )?(?:done|finished|completed?|closed)|to[ -]do(?! lists?\b)|still)\b"
    ),
    "done": re.compile(r"\b(?:done|finished|completed?|closed|resolved)\b"),
}
"""Words that ask for tasks in a state; the first that is found counts."""
_NO_STATE = re.compile(
    r"^\W*(?:how (?!many\b)|(?:why|where|when|mark|make|create|add|write|complete|finish|close|set|move)\b|open the\b)"
)
"""Begins what names a state and asks for no tasks: "how do I open a task?", "mark the task as done"."""
_TO_DO = re.compile(r"\b(?:is|are|what's|left|still|remains?) (?:left |still )?to[ -]do\b(?! lists?\b)")
"""Asks for open tasks without that word."""
_OF_STATES = frozenset(
    """open progress ongoing worked working started doing unfinished undone outstanding pending remaining remain remains
    left incomplete uncompleted yet finished complete completed closed done resolved to-do still currently already far
    list many what's""".split()
)
"""Words of questions for a state that name nothing else."""
TASKS = frozenset(INTENTS["task"])
"""Types of tasks."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, read once."""

    text: str
    words: tuple[str, ...]
    """Lower-case words that carry meaning, in order, each once."""
    keywords: tuple[str, ...]
    """The words of more than three letters, as the thread contract matches them."""
    names: frozenset[str]
    """The words that are names or numbers, as far as their spelling tells."""
    wanted_types: frozenset[str]
    titles: tuple[str, ...]
    """Things named by [[title]], ((block)) or a path."""
    tags: tuple[str, ...]
    period: Period | None
    overdue: bool = False
    """True if it asks for overdue tasks."""
    due: Period | None = None
    """The stretch of time for whose due tasks it asks."""
    state: State | None = None
    """The state of the tasks that it asks for."""
    search: str = ""
    """The text to search for."""
    wants_similar: bool = False
    """True if things like the focus would help."""

    @property
    def needs_focus_alone(self) -> bool:
        """True for a command such as "translate this": it searches for nothing, and no links of the focus help."""
        if self.search.strip() or _PART.search(self.text) is None:
            return False
        return not (self.wants_similar or wants_linked(self.text))

    @property
    def beside_state(self) -> tuple[str, ...]:
        """The words of a question for tasks in a state that say which of them."""
        return tuple(word for word in self.words if word not in INTENTS and word not in _OF_STATES)

    def about_focus(self) -> Question:
        """The question of a user who has a focus: a command that points at it searches for nothing."""
        subject = subject_of(self.text, STOP_WORDS)
        if subject is None:
            return self
        words = tuple(dict.fromkeys(subject.split()))
        return replace(self, search=subject, words=words, keywords=_keywords(words), state=None)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, in order, without the punctuation around them.

    Scripts without spaces give pairs of letters, as they are indexed.
    """
    return _WORD.findall(spaced(text).lower())


def is_courtesy(message: str) -> bool:
    """True of "thanks", "ok, great", "perfect!" or a thumb up: there is nothing to answer."""
    said, asked_after = _HOW_ARE_YOU.subn(" ", message.lower().replace("’", "'"))
    words = words_of(said)
    if not words:
        return bool(message.strip()) and not any(character.isalnum() for character in said)
    telling = [word for word in words if word not in STOP_WORDS]
    if asked_after:
        return (COURTESIES | BESIDE).issuperset(words)
    if not telling or not COURTESIES.issuperset(telling):
        return False
    # One such word alone may be what is looked for: "day", "done", "nice".
    return len(telling) > 1 or telling[0] in ALWAYS_COURTEOUS or message.rstrip().endswith("!")


def read_query(text: str, now: datetime) -> Question:
    """Parse a query; any text is valid."""
    lowered = text.lower()
    all_words = list(dict.fromkeys(words_of(text)))
    own = language_of(text, least=1)
    stop_words = STOP_WORDS if own == ENGLISH else FUNCTION_WORDS[own]
    words = tuple(word for word in all_words if word not in stop_words)
    types = frozenset(kind for word in _PART.findall(lowered) for kind in INTENTS.get(word, ()))
    # "Late" alone is no such question: a train can be late too.
    overdue = _OVERDUE.search(lowered) is not None or ("late" in all_words and types >= TASKS)
    period = period_of(lowered, now)
    due = ahead_of(lowered, now) or period if _DUE.search(lowered) and not overdue else None
    return Question(
        text=text,
        words=words,
        keywords=_keywords(words),
        names=_names(text, own, timed=period is not None),
        wanted_types=types | TASKS if overdue or due else types,
        titles=tuple(
            dict.fromkeys(
                [match.strip() for match in (*_LINK.findall(text), *_BLOCK.findall(text), *_PATH.findall(text))]
            )
        ),
        tags=tuple(dict.fromkeys(_TAG.findall(text))),
        period=period,
        overdue=overdue,
        due=due,
        state=None if overdue or due else _state(lowered, types),
        search=text,
        wants_similar=wants_similar(text),
    )


def _names(text: str, language: str, *, timed: bool) -> frozenset[str]:
    """The words with a digit, and those that begin with a capital inside a sentence, in lower case.

    Capitals say nothing in German, nor where all words have one, as in a title. An acronym may stand for anything, and
    what belongs to a time is no name.
    """
    spelled = spaced(text)
    words = list(_WORD.finditer(spelled))
    telling = language not in _NOUNS_WITH_CAPITALS and not all(
        word[0][0].isupper() for word in words if len(word[0]) > SHORT_WORD
    )
    capitals = [word for word in words if telling and word[0][0].isupper() and not word[0].isupper()]
    inside = [word[0] for word in capitals if _BEGINS.search(spelled, 0, word.start()) is None]
    numbers = [word[0] for word in words if any(letter.isdigit() for letter in word[0])]
    named = [word.lower() for word in (*inside, *numbers) if not word.startswith(_OF_ME)]
    return frozenset(word for word in named if not timed or not (word.isdigit() or word in _OF_TIMES))


def _state(text: str, types: frozenset[str]) -> State | None:
    """The state of tasks that a query asks for."""
    if _NO_STATE.search(text):
        return None
    if _TO_DO.search(text):
        return "open"
    found = (state for state, words in _STATES.items() if words.search(text))
    return next(found, None) if types >= TASKS else None


def _keywords(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if len(word) > 3 or is_unspaced(word))


def quoted(text: str) -> str:
    """A text in a message, which one that was pasted from a document would fill."""
    return repr(text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…")
