"""Messages that ask for nothing beyond the conversation: courtesies, assent, and commands about what was just said.

The words are English, but for those of thanks. A message with words of its own asks for sources, unless it is a command
that changes what was said: "translate it to German".
"""

from __future__ import annotations

from weftwork.query import COURTESIES, STOP_WORDS, is_courtesy, words_of
from weftwork.text.pointing import subject_of

COURTESY = "a courtesy asks for nothing"
ANSWERED = "it asks for nothing that is not in the conversation"
_TALK = frozenset(
    """yes yeah yep yup no nope nah ja nein oui non sí bitte hm hmm huh ah oh aha wait stop go going continue next again
    try retry repeat wrong right correct true exactly really maybe works worked working work let say says said saying
    mean means meant understand know think help ask asked asking want never mind nothing point sounds looks seems now
    just that's it's don't i'm i'll didn't doesn't won't let's still idea question""".split()
)
"""Words of talk about the talk itself."""
_ASKING = frozenset(
    """who whom whose when where which why how what more else other others another example examples detail details
    first second third last former latter one ones""".split()
)
"""Words with which a message without words of its own asks for more of what was spoken of."""
_OF_THE_TALK = frozenset("you your say said saying ask asked mean meant".split())


def asks_for_sources(message: str) -> bool:
    """Return False for a message that is answered from the conversation itself, such as "yes, do that"."""
    if is_courtesy(message):
        return False
    words = words_of(message)
    asking = not _ASKING.isdisjoint(words)
    if any(word not in STOP_WORDS and word not in COURTESIES and word not in _TALK | _ASKING for word in words):
        return asking or subject_of(message, STOP_WORDS) != ""
    return asking and words != ["what"] and _OF_THE_TALK.isdisjoint(words)


def why_not(message: str) -> str:
    """The reason why a message that asks for no sources gets none."""
    return COURTESY if is_courtesy(message) else ANSWERED
