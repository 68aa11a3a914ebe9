"""Page embeddings by a vision model of the ColPali family: one vector per image patch."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import unit_rows, well_formed
from weftwork.embed.visual import PageLook
from weftwork.errors import EmbeddingError, InvalidInput, MissingExtra

FAMILIES = {
    "colpali": ("ColPali", "ColPaliProcessor"),
    "colqwen2.5": ("ColQwen2_5", "ColQwen2_5_Processor"),
    "colqwen2": ("ColQwen2", "ColQwen2Processor"),
    "colqwen3.5": ("ColQwen3_5", "ColQwen3_5Processor"),
    "colqwen3": ("ColQwen3", "ColQwen3Processor"),
    "colsmol": ("ColIdefics3", "ColIdefics3Processor"),
    "colmodernvbert": ("ColModernVBert", "ColModernVBertProcessor"),
    "colgemma3": ("ColGemma3", "ColGemmaProcessor3"),
}
"""Classes of colpali-engine by what the names of their checkpoints have in common; the longer name decides."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    processor: Any
    torch: Any


class ColPaliEmbedder:
    """A checkpoint by its Hugging Face name, `vidore/colqwen2-v1.0`, or folder; loaded lazily."""

    def __init__(self, name: str, *, device: str = "auto", batch_size: int = 4) -> None:
        if batch_size < 1:
            raise InvalidInput(f"batch_size must be at least 1, not {batch_size}")
        self._name = name
        self._classes = _classes(name)
        self._device = device
        self._batch_size = batch_size
        self._loaded = Lazy(self._load)

    @property
    def model(self) -> str:
        """The name of the checkpoint, or of its folder."""
        return f"colpali:{Path(self._name).name if Path(self._name).is_dir() else self._name}"

    @property
    def dimensions(self) -> int:
        """The size of the model's projection."""
        return int(self._loaded.get().model.dim)

    def embed_pages(self, pages: Sequence[PageLook]) -> list[Matrix]:
        """Return a row per image patch of each page; none for pages without an image."""
        matrices = [np.zeros((0, self.dimensions), dtype=np.float32) for _ in pages]
        shown = [place for place, page in enumerate(pages) if page.image is not None]
        for start in range(0, len(shown), self._batch_size):
            places = shown[start : start + self._batch_size]
            images = [_opened(path) for place in places if (path := pages[place].image) is not None]
            for place, rows in zip(places, self._rows("process_images", images), strict=True):
                matrices[place] = rows
        return matrices

    def embed_query(self, text: str) -> Matrix:
        """A row for each token of the query."""
        if not text.strip():
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return self._rows("process_queries", [well_formed(text)])[0]

    def _rows(self, process: str, inputs: list[Any]) -> list[Matrix]:
        """Run the model on images or texts; drop the zero rows that padding leaves."""
        loaded = self._loaded.get()
        batch = getattr(loaded.processor, process)(inputs).to(loaded.model.device)
        with loaded.torch.inference_mode():
            output = loaded.model(**batch).float().cpu().numpy()
        return [unit_rows(page[np.abs(page).sum(axis=1) > 0]) for page in output]

    def _load(self) -> _Loaded:
        try:
            import torch  # noqa: PLC0415  (an optional extra)
            from colpali_engine import models  # noqa: PLC0415
            from colpali_engine.utils.torch_utils import get_torch_device  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra("colpali-engine", "colpali") from error
        device = get_torch_device(self._device)
        dtype = torch.float32 if device == "cpu" else torch.bfloat16
        of_model, of_processor = (getattr(models, name) for name in self._classes)
        try:
            model, info = of_model.from_pretrained(self._name, dtype=dtype, device_map=device, output_loading_info=True)
            processor = of_processor.from_pretrained(self._name)
        except (OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise EmbeddingError(
                f"{self._name} cannot be loaded ({reason}): name a checkpoint on Hugging Face, or its folder"
            ) from error
        _refuse_gaps(self._name, model, info["missing_keys"])
        return _Loaded(model.eval(), processor, torch)


def _refuse_gaps(name: str, model: Any, missing: Collection[str]) -> None:
    """Refuse a checkpoint with missing weights: they would be random, and different in each process."""
    of_adapter = getattr(
        model, "_hf_peft_config_loaded", False
    )  # then it is the base that lacks them, and not for long
    if missing and not of_adapter:
        raise EmbeddingError(
            f"{name} lacks {len(missing)} of the model's weights ({min(missing)}): copy the checkpoint again, or save "
            "it with save_original_format=False"
        )


def _classes(name: str) -> tuple[str, str]:
    """The classes of a checkpoint: what its folder says, or else what its name says."""
    config = Path(name) / "config.json"
    if config.is_file():
        try:
            built = json.loads(config.read_text(encoding="utf-8")).get("architectures") or []
        except (ValueError, AttributeError) as error:
            raise EmbeddingError(f"{config} is no JSON object: copy the checkpoint again") from error
        for classes in FAMILIES.values():
            if classes[0] in built:
                return classes
    normalised = name.lower().replace("_", ".").replace("idefics3", "smol")
    for family in sorted(FAMILIES, key=len, reverse=True):
        if family in normalised:
            return FAMILIES[family]
    raise InvalidInput(f"{name!r} names no model of the ColPali family: use one of {', '.join(FAMILIES)}")


def _opened(path: Path) -> Any:
    from PIL import Image  # noqa: PLC0415  (comes with the extra)

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except OSError as error:
        raise EmbeddingError(f"the picture {path.name} cannot be read ({error}): add its document again") from error
