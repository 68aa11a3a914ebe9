"""What means something similar to the query."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry


@dataclass(frozen=True, slots=True)
class SemanticCollector:
    """The nearest passages by vector, above a threshold."""

    top_k: int | None = None
    """How many; None leaves it to the size of the budget."""
    threshold: float = 0.3
    name: str = "semantic"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first; nothing without an embedding."""
        return [
            Found(hit.key, hit.score, f"similarity {hit.score:.2f}")
            for hit in inquiry.vector_hits[: self.top_k]
            if hit.score >= self.threshold
        ]
