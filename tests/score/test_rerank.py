"""Rerankers: what they may change, and a real server that answers in both styles."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec

import pytest

from weftwork import Node, Weft
from weftwork.errors import InvalidInput, MissingExtra, ModelError
from weftwork.recipe import get_recipe
from weftwork.score.rerank import CrossEncoderReranker, HttpReranker

INSTALLED = find_spec("sentence_transformers") is not None


class Longest:
    """Thinks that the longest text answers best."""

    def rerank(self, query, texts):
        return [len(text) for text in texts]


class Broken:
    def rerank(self, query, texts):
        raise ModelError("it is asleep")


class Mute:
    def rerank(self, query, texts):
        return [float("nan")] * len(texts)


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("rerank") / "jam.weft", embedder="hashing") as opened:
        opened.add(
            [
                Node(id="short", title="Quince jam", text="Quince jam quince jam."),
                Node(id="long", title="Notes", text="A long story about a journey. " * 9 + "There was jam."),
                Node(id="desk", title="Desk", text="Where the work lies."),
            ]
        )
        yield opened


QUESTION = "Which quince jam?"


def asked(weft, reranker, **options):
    recipe = replace(get_recipe("default"), reranker=reranker)
    return weft.context(QUESTION, recipe=recipe, **options)


def order(context):
    return [item.candidate.node.id for item in context.items if item.candidate.section == "semantic"]


def test_hits_stand_in_the_order_of_the_reranker_and_share_out_their_scores(weft):
    before, after = weft.context(QUESTION), asked(weft, Longest())
    assert order(before)[0] == "short"
    assert order(after)[0] == "long"
    assert sorted(decision.score for decision in after.trace) == sorted(decision.score for decision in before.trace)
    first = next(decision for decision in after.trace if decision.node == "long")
    assert first.signals["rerank"] > 200
    assert first.signals["rank"] == next(decision.score for decision in before.trace if decision.node == "long")


def test_the_focus_keeps_its_place(weft):
    context = asked(weft, Longest(), focus="desk")
    desk = next(decision for decision in context.trace if decision.node == "desk")
    assert "rerank" not in desk.signals and context.items[0].candidate.node.id == "desk"


@pytest.mark.parametrize(("reranker", "why"), [(Broken(), "it is asleep"), (Mute(), "usable numbers")])
def test_one_that_fails_leaves_the_order_and_a_warning(weft, reranker, why):
    context = asked(weft, reranker)
    assert order(context) == order(weft.context(QUESTION))
    assert any(why in warning for warning in context.warnings)


class Server(BaseHTTPRequestHandler):
    """Scores texts by their length, the best first, as the endpoints do."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked.get("documents") or asked.get("texts") or []
        scores = sorted(((len(text), index) for index, text in enumerate(texts)), reverse=True)
        name = "score" if self.path == "/tei" else "relevance_score"
        rows = [{"index": index, name: float(score)} for score, index in scores]
        status = 401 if self.path == "/closed" or self.headers.get("Authorization") == "Bearer wrong" else 200
        answer = json.dumps(rows if self.path == "/tei" else {"results": rows}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *parts):
        pass


@pytest.fixture(scope="module")
def address():
    server = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("style", ["cohere", "tei"])
def test_a_server_is_asked_in_its_own_style(weft, address, style):
    reranker = HttpReranker(f"{address}/{style}", model="m", api_key="k", style=style)
    try:
        assert reranker.rerank("q", ["ab", "abcd", "a"]) == [2.0, 4.0, 1.0]
        assert order(asked(weft, reranker))[0] == "long"
    finally:
        reranker.close()


def test_a_server_that_refuses_or_speaks_otherwise_is_a_model_error(weft, address):
    for reranker, why in (
        (HttpReranker(f"{address}/closed"), "could not be asked"),
        (HttpReranker(f"{address}/tei"), "check the style"),
        (HttpReranker(f"{address}/cohere", api_key="wrong"), "401"),
    ):
        with pytest.raises(ModelError, match=why):
            reranker.rerank("q", ["a"])
        reranker.close()
    with pytest.raises(InvalidInput, match="'cohere' or 'tei'"):
        HttpReranker(address, style="other")  # type: ignore[arg-type]


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_a_cross_encoder_needs_its_extra():
    with pytest.raises(MissingExtra, match="pip install"):
        CrossEncoderReranker("any").rerank("q", ["a"])


def small_cross_encoder(folder, labels):
    """A model with weights by chance and seven words, saved as any other is."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "quince", "jam", "."])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=32, num_labels=labels, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **marks).save_pretrained(folder)
    return CrossEncoderReranker(str(folder))


@pytest.mark.skipif(not INSTALLED, reason="needs  pip install 'weftwork[sentence-transformers]'")
def test_a_real_cross_encoder_orders_the_hits(weft, tmp_path):
    reranker = small_cross_encoder(tmp_path / "model", labels=1)
    context = asked(weft, reranker)
    by_name = {decision.node: decision.signals["rerank"] for decision in context.trace if "rerank" in decision.signals}
    assert not context.warnings and set(by_name) == {"short", "long"} and len(set(by_name.values())) == 2
    assert order(context) == sorted(by_name, key=by_name.get, reverse=True)
    # Texts longer than the model can read are cut, and an empty one is a text too.
    assert len(reranker.rerank("jam", ["jam " * 1000, ""])) == 2


@pytest.mark.skipif(not INSTALLED, reason="needs  pip install 'weftwork[sentence-transformers]'")
def test_a_cross_encoder_that_cannot_be_used_leaves_the_order_and_a_warning(weft, tmp_path):
    three = small_cross_encoder(tmp_path / "three", labels=3)
    for reranker, why in ((three, "single label"), (CrossEncoderReranker(str(tmp_path / "none")), "cannot be loaded")):
        context = asked(weft, reranker)
        assert order(context) == order(weft.context(QUESTION))
        assert any(why in warning for warning in context.warnings)
