"""Puts the weights of the default model into the wheel.

They come from the wheel of `wordllama`, which is needed to build and not to run: installed, it would bring a dozen
packages that Weftwork does not use. The files are compared with the checksums of those that were measured.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "weftwork_weights"
WEIGHTS = {
    "weights/l2_supercat_256.safetensors": "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    "tokenizers/l2_supercat_tokenizer_config.json": "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}


class Weights(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Adds the weights, the tokenizer and their licence, to an editable install as well."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include."""
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise RuntimeError("wordllama is not installed: build with the requirements of pyproject.toml")
        package = Path(spec.submodule_search_locations[0])
        kind = "force_include_editable" if version == "editable" else "force_include"
        for name, checksum in WEIGHTS.items():
            found = hashlib.sha256((package / name).read_bytes()).hexdigest()
            if found != checksum:
                raise RuntimeError(
                    f"{package / name} has the SHA-256 {found}, not {checksum}: build with wordllama 0.4"
                )
            build_data[kind][str(package / name)] = f"{FOLDER}/{Path(name).name}"
        licence = next(file for file in distribution("wordllama").files or () if file.name == "LICENSE")
        build_data[kind][str(licence.locate())] = f"{FOLDER}/LICENSE"
