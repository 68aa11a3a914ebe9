"""The scale of a model without a card: what its cosines are between texts that belong together, and that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weftwork.embed.cached import query_vector
from weftwork.embed.card import Trust, trust_of
from weftwork.embed.protocol import EmbeddingProvider

PAIRS = (
    ("How do I renew a passport?", "A new travel document is applied for at the town hall, with a photograph."),
    ("What do bees eat in winter?", "During the cold months the hive lives on the honey that it stored in summer."),
    ("How do I make a web page faster?", "Compress pictures, cache what seldom changes, and send less JavaScript."),
    ("Who pays for repairs in a rented flat?", "The landlord bears the cost of fixing the apartment, not the tenant."),
    ("Why does bread dough rise?", "Yeast turns sugar into gas, whose bubbles make the loaf grow before it is baked."),
    ("Which exercises help against back pain?", "Strengthening the muscles of the spine eases an aching back."),
    ("How is the interest on a loan calculated?", "The bank charges a percentage of the sum still owed each year."),
    ("When were the first railways built?", "Steam trains ran on public lines in England from 1825."),
    ("How do I tune a guitar?", "Turn the pegs until each string sounds the right note, from low to high."),
    ("What causes the tides of the sea?", "The pull of the moon lifts the water of the oceans twice a day."),
)
"""Questions, each with a text that answers it in other words; the others do not."""
CLEAR = 2.0
"""Standard deviations between both kinds of pairs from which on a model tells them apart."""
ALONE, HALF = 0.3, 0.18
"""The settings of `Trust` on this scale; models with a card have the same within a tenth (decision 33)."""


def calibrated(provider: EmbeddingProvider) -> Trust:
    """The scale of a model's cosines: of its card, else measured; without `half` if they tell nothing of meaning."""
    trust = trust_of(provider)
    if trust.half:
        return trust
    questions = np.stack([query_vector(provider, question) for question, _ in PAIRS])
    cosines = questions @ provider.embed_batch([answer for _, answer in PAIRS]).T
    alike = cosines.diagonal()
    unlike = cosines[~np.eye(len(PAIRS), dtype=bool)]
    floor, ceiling = float(unlike.mean()), min(1.0, float(alike.mean()))
    if ceiling - floor <= CLEAR * float(unlike.std()):
        return trust
    return replace(trust, floor=max(-1.0, floor), ceiling=ceiling, alone=ALONE, half=HALF)
