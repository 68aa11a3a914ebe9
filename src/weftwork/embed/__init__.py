from __future__ import annotations

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.errors import UnknownName, WeftError

SPECS = (
    "static", "none", "hashing", "openai:MODEL", "onnx:FOLDER", "sentence-transformers:NAME",
    "a name of  weftwork models list",
)  # fmt: skip


def get_embedder(spec: str | None = "static") -> EmbeddingProvider | None:  # noqa: PLR0911 - one for each provider
    """The provider that a setting names; None if embeddings are off."""
    # Imported here because numpy, tokenizers and the extras cost more than a command's --help may take.
    match (spec or "none").partition(":"):
        case ("none", _, ""):
            return None
        case ("static", _, ""):
            from weftwork.embed.static import StaticEmbedder  # noqa: PLC0415

            return StaticEmbedder()
        case ("hashing", _, ""):
            from weftwork.embed.hashing import HashingEmbedder  # noqa: PLC0415

            return HashingEmbedder()
        case ("openai", _, model):
            from weftwork.embed.openai import DEFAULT_MODEL, OpenAIEmbedder  # noqa: PLC0415

            return OpenAIEmbedder.from_env(model or DEFAULT_MODEL)
        case ("onnx", _, folder) if folder:
            from weftwork.embed.onnx import OnnxEmbedder  # noqa: PLC0415

            return OnnxEmbedder(folder)
        case ("sentence-transformers", _, name) if name:
            from weftwork.embed.sbert import SentenceTransformerEmbedder  # noqa: PLC0415

            return SentenceTransformerEmbedder(name)
    return _installed(spec or "none")


def local_provider(model: str) -> EmbeddingProvider | None:
    """The provider behind the name of a model whose vectors are stored; None if it is not on this machine."""
    kind, _, rest = model.partition(":")
    name = rest.partition(":")[0] if kind == "onnx" else ""
    try:
        if name:
            provider = get_embedder(name)
        else:
            provider = get_embedder({"wordllama": "static", "hashing": "hashing"}.get(model.partition("-")[0], "none"))
        return provider if provider is not None and provider.model == model else None
    except WeftError:
        return None


def _installed(name: str) -> EmbeddingProvider:
    """The installed model of this name."""
    from weftwork.embed.library import Library  # noqa: PLC0415
    from weftwork.embed.onnx import OnnxEmbedder  # noqa: PLC0415

    folder = None if ":" in name else Library.from_environment().find(name, "encoder")
    if folder is None:
        raise UnknownName("embedding provider", name, SPECS)
    return OnnxEmbedder(folder)
