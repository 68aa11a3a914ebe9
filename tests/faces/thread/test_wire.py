import json
from datetime import UTC, datetime

from weftwork import Node, Weft
from weftwork.faces.thread import ContextAssemblyService, to_response

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


def test_a_prime_context_has_the_contracts_names_in_json(tmp_path):
    with Weft.open(tmp_path / "w.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as weft:
        weft.add([Node(id="t", type="thread"), Node(id="a", type="file", source="a.md", text="The primary mirror.")])
        prime = ContextAssemblyService(weft).build("t", "primary mirror")
    answer = json.loads(json.dumps(to_response(prime)))
    assert answer["meta"] == {"tokenUsage": prime.total_tokens, "sourceCount": 1, "citationCount": 1}
    assert answer["data"].keys() == {"totalTokens", "items", "citations", "stats", "text"}
    assert answer["data"]["stats"] == {"explicitCount": 0, "searchCount": 1, "historyCount": 0, "excludedCount": 0}
    (item,) = answer["data"]["items"]
    assert item.keys() == {"id", "type", "content", "excerpt", "source", "relevance", "tokens", "metadata"}
    assert item["metadata"] == {
        "node": "a",
        "nodeType": "file",
        "path": "a.md",
        "createdAt": "2026-03-16T09:00:00+00:00",
        "matchedKeywords": ["primary", "mirror"],
        "searchRank": prime.items[0].metadata.search_rank,
    }
    (citation,) = answer["data"]["citations"]
    assert citation == {
        "id": f"[{item['id']}]",
        "source": "a.md",
        "type": "file",
        "path": "a.md",
        "excerpt": "The <<<primary>>> <<<mirror>>>.",
        "relevance": item["relevance"],
        "usedInResponse": False,
    }
