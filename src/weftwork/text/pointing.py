"""Requests that point: at the focus ("explain this"), or at what was said before ("who orders it?").

The words of a command say what to do with the focus, not what to search for. What is left of a request without them is
its subject, which may be empty.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_POLITE = re.compile(
    r"^(?:\s|[,.!])*(?:(?:please|kindly|now|then|and|ok(?:ay)?|hey|hi|can|could|would|will|you|me|help|to|let'?s|i"
    r"|want|need|like|i'd)\b[\s,]*)*"
)
_CHANGES = frozenset(
    """translate improve rewrite reword rephrase paraphrase polish shorten lengthen expand extend simplify proofread
    correct fix edit format reformat restructure convert turn make continue finish complete tidy clean summarise
    summarize condense compress tldr outline break split divide transform spellcheck rename categorise categorize
    tag""".split()
)
"""Verbs that change the focus: the rest of the request says how, unless it names something to use."""
_READS = frozenset(
    """explain describe clarify define elaborate review check critique criticise criticize comment discuss evaluate
    assess analyse analyze interpret extract list draft write create generate suggest propose recommend give show tell
    answer compare estimate plan prioritise prioritize brainstorm""".split()
)
"""Verbs that read the focus: the rest of the request may name something to search for."""
_USING = re.compile(
    r"\b(?:using|with|based on|according to|following|about|mention(?:s|ing)?|includ(?:e|es|ing)|against"
    r"|compar(?:e|ed|ing)|in line with|match(?:es|ing)?|considering|given|from|like)\b"
)
_POINTER = re.compile(
    r"\b(?:this|these|here|it|selection|selected|highlighted|(?:the|my) (?:current|focused|open)"
    r"|(?:(?:the|my) (?:page|block|paragraph|section|note|task|row|database|table|text|document)|that|those)"
    r"(?=\s*(?:$|[.?!,;]|(?:into|to|for|as|and)\b)))\b"
)
_NAMED_BY_POINTER = re.compile(r"\b(?:this|these|current|selected|highlighted)((?:\s+[^\W\d_]+)+)")
_AFTER_NOUN = frozenset(
    """a about and are as at be but by can could do does for from has have how if in into is it mean means of on or
    should so that the then this to was were what when which who why will with would you your my our me""".split()
)
"""Words that end the noun after a pointer, as in "this clause of the contract"."""
_THING = """page block paragraph section note task row database table text document selection item todo bullet sentence
    sentences word words list content contents passage part line lines entry entries card file message thread idea"""
_MANNER = """writing style tone grammar spelling typos typo punctuation language formal informal friendly friendlier
    professional concise clear clearer short shorter long longer simple simpler simply better brief briefly detail
    details detailed depth plain easy easier easily terms layman beginner beginners child five-year-old expert
    step steps subtask subtasks sub-task sub-tasks smaller pieces parts points point bullets key main important
    takeaways summary overview abstract gist outline headline title titles heading headings action actions items todos
    checklist next follow-up email mail reply response letter post tweet version versions draft half one two three
    four five six seven eight nine ten few many several first last new old"""
_MEANING = """mean means meaning meant about correct right wrong true missing unclear due done finished relate relates
    related relation connected connection work works take takes look looks like sense matter matters say says said
    happen happens happening long much good bad think know need needs use used thing things way ways something anything
    everything kind sort question questions answer answers context focus reading read
    really actually exactly basically quickly please thanks"""
_LANGUAGES = """english german french spanish italian portuguese dutch polish czech danish swedish norwegian finnish
    hungarian romanian bulgarian greek turkish russian ukrainian arabic hebrew persian hindi bengali chinese japanese
    korean vietnamese thai indonesian latin croatian serbian slovenian slovak american british"""
_PLAIN = frozenset(f"{_THING} {_MANNER} {_MEANING} {_LANGUAGES}".split()) | _CHANGES | _READS
"""Words that say what to do with the focus, and how."""

_SIMILAR = re.compile(
    r"\bsub-?tasks?\b|\bbreak\b.*\b(?:down|up|into)\b|\b(?:split|divide)\b.*\binto\b|\bchecklists?\b|\bsimilar\b"
    r"|\blike (?:this|it|that)\b|\bestimates?\b|\bhow long\b|\bplan (?:this|it|out)\b|\bnext steps?\b|\bpatterns?\b"
)
_LINKED = re.compile(r"\b(?:relat|connect|context|link|depend|refer|background|mention|compar|surround)")
_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|she|him|her|hers|his|this|these|there|then|ones?|same|former|latter|both"
    r"|(?:that|those)(?=\s*(?:$|[.?!,;]|in|to|for|with|and|one)))\b"
    r"|^\W*(?:and|but|so|or|also|what about|how about|why not|what else|anything else|more)\b"
)
_FEW = 1
"""The most telling words of a question that says too little by itself, such as "Why?" or "How much?"."""


def subject_of(text: str, stop_words: frozenset[str]) -> str | None:
    """The subject of a request that points at the focus, "" if it has no other; None if it does not point."""
    request = _POLITE.sub("", text.lower())
    telling = _telling(request, stop_words)
    verb = next(iter(_WORD.findall(request)), "")
    if _POINTER.search(text.lower()) is None:
        # "Extract action items" and "What are the next steps?" have nothing else to be about.
        asks = verb in _CHANGES | _READS or "?" in text
        return None if telling or not asks else ""
    if verb not in _CHANGES:
        return " ".join(telling)
    named = _USING.search(request)
    to_use = _WORD.findall(request[named.end() :]) if named else []
    return " ".join(word for word in to_use if word not in stop_words)


def _telling(text: str, stop_words: frozenset[str]) -> list[str]:
    """The words of a text that are neither a part of a command nor name what a pointer points at."""
    pointed: set[str] = set()
    for noun in _NAMED_BY_POINTER.finditer(text):
        for word in noun[1].split():
            if word in _AFTER_NOUN:
                break
            pointed.add(word)
    words = _WORD.findall(text)
    return [word for word in words if word not in stop_words and word not in _PLAIN and word not in pointed]


def wants_similar(text: str) -> bool:
    """Return True if things like the focus would help: to break it down, to plan it or to estimate it."""
    return _SIMILAR.search(text.lower()) is not None


def wants_linked(text: str) -> bool:
    """Return True if it asks for what the focus is linked to: "what is this related to?"."""
    return _LINKED.search(text.lower()) is not None


def points_back(text: str, telling: int) -> bool:
    """Return True if a question with this many telling words is about what was said before it."""
    return telling <= _FEW or _BACK.search(text.lower()) is not None
