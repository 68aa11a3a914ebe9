"""Marks of text that reads like instructions to a language model.

Rules, not a model: each looks for one way in which planted texts address whoever reads them. They were chosen on one
half of public attack texts and ordinary notes; `python -m benchmarks injection` has precision and recall on both.
A plain request, such as "write a poem about the sea", has no mark that tells it from a note.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

LONGEST_READ = 20_000
"""Characters of a text that are looked at; passages are shorter."""

_ANSWER = r"(?:responses?|answers?|repl(?:y|ies)|output|completion)"
_SAME_SENTENCE = r"(?:[^.!?\n]|\.(?=\S)|[.!?](?=[\"'”’]))"
_NO_IMPERATIVE = (
    r"(?:thanks?|the|this|that|these|those|if|when|we|i|you|your|it|its|as|for|on|after|before|once|while|looking|await|"
    r"awaiting|hope|hoping|a|an|and|but|or|so|to|with|at|from|how|what|why|which|who|where|could|can|would|will|do|does|"
    r"did|is|are|was|were|any|check|send|submit|get|see|receive|received|hi|hello|dear|regarding|until|since|because|"
    r"here|there|our|my|his|her|their|then|they|he|she|not|no|yes|by|of|in|all|some|both|each|subject|content|upon|"
    r"having|got|glad|sorry|appreciate|wait|waiting|pending|save|click|post|type|enter|select)\b"
)
_ADDING = (
    r"(?:add|append|insert|includ|incorporat|integrat|embed|featur|implement|utili[sz]|plac|put|weav|blend|merg|inject|"
    r"introduc|encod|encrypt|encipher|translat|convert|revers|transform|writ|begin|start|finish|conclud|replac|"
    r"substitut|express|mention|leverag|employ|apply|adopt|provid|present|format|us|represent|deliver|return|give|craft|"
    r"sprinkle|slip|reference|promot|advertis|giv|spell|render|turn|interleav|fill)(?:e|es|ing|ting)?"
)
_SNIPPET = r"(?:code|script)\s+(?:snippet|block|excerpt|section|segment|fragment|portion|sample|piece)s?"
_FOLLOWING = r"(?:following|below|subsequent|ensuing|succeeding|underneath)"
_YOUR_CODE = (
    r"(?:your (?:\w+\s+){0,2}?(?:code(?:base)?|solution|implementation|program|script|project|response|answer)|"
    r"(?:the )?code (?:that )?you)"
)
_Rule = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of which one stands in whatever the rule finds, in lower case, and its alternatives."""
_PATTERNS: dict[str, _Rule] = {
    "override": (
        ("instruction", "prompt", "rules", "direction", "command", "guideline", "orders", "messages", "everything"),
        (
            r"\b(?:ignore|disregard|forget|override|bypass|discard|skip)\b(?:\s+\S+){0,5}?\s+(?:previous|prior|above|"
            r"earlier|preceding|former|all|any|other)\b(?:\s+\S+){0,4}?\s+(?:instructions?|prompts?|rules|directions|"
            r"commands|guidelines|orders|messages)\b",
            r"\b(?:ignore|disregard|forget)\s+everything\b(?:\s+\S+){0,3}\s+(?:learned|told|said|above|before)",
        ),
    ),
    "role": (
        (
            "from now on",
            "starting now",
            "henceforth",
            "you are ",
            "you will ",
            "you must ",
            "pretend",
            " mode",
            "anything",
        ),
        (
            r"\b(?:from now on|starting now|henceforth)\b,? you (?:are|will|must|shall|have to|answer|respond|act|"
            r"only)\b",
            r"\byou (?:are|will|must) (?:now|going to|about to)\b[^.\n]{0,40}?\b(?:act (?:as|like)|the role|pretend|"
            r"simulate|immerse|respond|answer|play)\b",
            r"\bpretend (?:to be|that you|you)\b",
            r"\b(?:developer|dan|jailbreak|god) mode (?:enabled|activated|on\b)",
            r"\bdo anything now\b",
            r"\byou are (?:now )?(?:an? )?(?:unrestricted|uncensored)\b",
        ),
    ),
    "output": (
        (
            "your res",
            "your ans",
            "your rep",
            "your mes",
            "your out",
            "your com",
            "response",
            "answer",
            "reply",
            "replies",
        ),
        (
            r"(?:^|[.!?:\n][\s\"'“”’]*|\|\s*)in your (?:response|answer|reply)\s*,",
            rf"(?:^|[.!?:\n][\s\"'“”’]*|\|\s*)(?-i:(?!(?i:{_NO_IMPERATIVE}))[A-Z])[a-z]+\b{_SAME_SENTENCE}{{0,160}}?"
            r"\byour (?:\w+\s+)?(?:responses?|answers?|reply|replies|message)\b",
            rf"\byour {_ANSWER} (?:must|shall|has to|needs? to) (?:be|contain|include|begin|start|end|have|use)\b",
        ),
    ),
    "snippet": (
        ("following", "below", "subsequent", "ensuing", "succeeding", "underneath"),
        (
            rf"\b{_ADDING}\b[^.\n]{{0,60}}?\b{_FOLLOWING}\s+{_SNIPPET}\b",
            rf"\b{_FOLLOWING}\s+{_SNIPPET}\b[^.\n]{{0,80}}?\b{_YOUR_CODE}\b",
            rf"\b{_YOUR_CODE}\b[^.\n]{{0,60}}?\b{_FOLLOWING}\s+{_SNIPPET}",
        ),
    ),
    "say": (
        ("just ", "only ", "simply "),
        (
            r"\b(?:just|only|simply)\s+(?:say|print|output|respond|reply|answer|repeat|write)\b[^.\n]{0,15}[\"“]",
            r"\brespond only with the\b",
        ),
    ),
    "secrecy": (
        ("user", "human", "reader", "person", "prompt", "instruction", "message"),
        (
            r"\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|disclose|alert)\b[^.\n]{0,30}?\b(?:the )?"
            r"(?:user|human|reader|person)\b",
            r"\b(?:reveal|print|repeat|output|leak|show)\b[^.\n]{0,30}?\b(?:system|initial|hidden) (?:prompt|"
            r"instructions?|message)\b",
        ),
    ),
    "address": (
        (" ai", "llm", "language model", "assistant", "chatbot"),
        (
            r"\b(?:dear|attention|note to|instructions? (?:for|to)|message (?:for|to))\W{1,3}(?:the |any |all )?"
            r"(?:ai|llm|language model|assistant|chatbot)\b",
            r"\bas an ai (?:language )?model\b[^.\n]{0,40}?\byou (?:must|should|will)\b",
            r"\bif you are an? (?:ai|llm|language model|assistant)\b",
        ),
    ),
    "turn": (
        ("<|", "inst]", "sys>>", "system", "developer"),
        (
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>",
            r"\[/?INST\]|<</?SYS>>",
            r"(?m:^)\W{0,4}(?:new |updated |important )?(?:system|developer) (?:prompt|instructions?|message|override)"
            r"\s*:",
        ),
    ),
    "exfiltration": (
        ("](http", "]( http", "://", "@"),
        (
            r"!\[[^\]\n]{0,100}\]\(\s*https?://[^)\s]{1,300}[?&/][^)\s]{0,100}(?:\{|\[|%7B|<)[^)\n]{0,80}",
            r"\b(?:send|forward|post|upload|exfiltrate|e-?mail)\b[^.\n]{0,60}?\b(?:conversation|chat history|"
            r"system prompt|previous message|api keys?|password)s?\b[^.\n]{0,60}?(?:https?://|\bto\s+\S+@)",
        ),
    ),
}
_RULES = {
    kind: (words, tuple(re.compile(each, re.IGNORECASE) for each in patterns))
    for kind, (words, patterns) in _PATTERNS.items()
}
_HIDDEN = re.compile("[\U000e0020-\U000e007f]{4}|[\u200b\u200c\u200d\u2060\u2061-\u2064]{8}|[\ufe00-\ufe0f]{4}")
_UNSEEN = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


@lru_cache(maxsize=8192)
def instruction_marks(text: str) -> tuple[str, ...]:
    """Return the kinds of marks that a text has of instructions to a model; empty for an ordinary one."""
    text = text[:LONGEST_READ]
    hidden = ("hidden",) if not text.isascii() and _HIDDEN.search(text) else ()
    if not text.isascii():
        text = normalize("NFKC", _UNSEEN.sub("", text))
    lowered = text.lower()
    return (
        *hidden,
        *(
            kind
            for kind, (words, patterns) in _RULES.items()
            if any(word in lowered for word in words) and any(pattern.search(text) for pattern in patterns)
        ),
    )
