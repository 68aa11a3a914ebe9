import pytest

pytest.importorskip("haystack")

from haystack import Pipeline
from haystack.components.builders import PromptBuilder

from weftwork.adapters.haystack import WeftContext

from .workspace import QUESTION, opened


def test_a_pipeline_gets_the_context(tmp_path):
    with opened(tmp_path) as weft:
        pipeline = Pipeline()
        pipeline.add_component("weft", WeftContext(weft, budget=300))
        template = "{{ context }}\n\nQuestion: {{ query }}"
        pipeline.add_component("prompt", PromptBuilder(template, required_variables=["context", "query"]))
        pipeline.connect("weft.context", "prompt.context")
        given = {"weft": {"query": QUESTION, "top_k": 2}, "prompt": {"query": QUESTION}}
        made = pipeline.run(given, include_outputs_from={"weft"})
        assert "twelve rollers of brass" in made["prompt"]["prompt"]
        assert made["weft"]["documents"][0].meta["node"] == "dome"
        assert made["weft"]["documents"][0].id in made["weft"]["citations"]
