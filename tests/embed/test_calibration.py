"""The scale of models without a card."""

import numpy as np
import pytest

from weftwork.embed.calibration import calibrated
from weftwork.embed.card import CAUTIOUS, known_cards
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.static import StaticEmbedder


class _Plain:
    """The static model under another name, its cosines between `low` and 1."""

    model = "of-my-own"
    dimensions = 257

    def __init__(self, low):
        self._low = low

    def embed(self, text):
        return self.embed_batch([text])[0]

    def embed_batch(self, texts):
        rows = StaticEmbedder().embed_batch(texts)
        same = np.full((len(rows), 1), self._low**0.5, dtype=np.float32)
        return np.hstack([rows * (1 - self._low) ** 0.5, same])


def test_a_card_has_the_last_word():
    assert calibrated(StaticEmbedder()) == known_cards()["static"].trust


@pytest.mark.parametrize("low", [0.0, 0.5])
def test_a_model_without_a_card_is_measured_wherever_its_cosines_lie(low):
    trust, plain = calibrated(_Plain(low)), calibrated(_Plain(0.0))
    assert low <= trust.floor < trust.ceiling < 1
    assert trust.half > 0
    for cosine in (0.1, 0.2, 0.3):
        assert trust.reach(low + (1 - low) * cosine) == pytest.approx(plain.reach(cosine), abs=1e-5)


def test_a_model_that_knows_no_meaning_has_no_scale():
    assert calibrated(HashingEmbedder()) == CAUTIOUS
