"""What the inspector asks for: true figures, and nothing that its user may not see."""

import re
from pathlib import Path

import pytest

import weftwork.server
from weftwork import Edge, Node

from .serving import calling

WEB = Path(weftwork.server.__file__).parent / "web"
LOOK = "/v1/workspaces/studio/inspect"


@pytest.fixture
def filled(weft):
    """A studio with notes of many sizes around a page, some of them only Ana's."""
    weft.add(
        [
            Node(
                id=f"note{number}",
                title=f"Note {number}",
                text="mirror " + "cell of glass " * (5 + 4 * number),
                tags=("salary",) if number % 4 == 3 else (),
                access=frozenset({"ana"}) if number % 4 == 3 else None,
            )
            for number in range(12)
        ],
        [Edge(source="plan", target=f"note{number}", type="about") for number in range(0, 12, 3)],
        workspace="studio",
    )
    return weft


@pytest.fixture
def client(filled):
    with calling(filled) as calls:
        yield calls


def looked(client, user="ana", **body):
    answer = client.post(LOOK, json={"query": "mirror", "budget": 400, **body}, headers={"Weftwork-User": user})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_pieces_are_the_text_and_point_at_their_candidates(client, filled):
    told = looked(client)
    context = filled.context("mirror", user="ana", workspace="studio", budget=400)
    assert "".join(piece["text"] for piece in told["pieces"]) == context.text
    for card in filter(None, (piece["card"] for piece in told["pieces"])):
        candidate = told["candidates"][card["candidate"]]
        assert card["candidate"] in card["candidates"]
        assert candidate["score"] == card["score"]
        assert {told["candidates"][place]["fate"] for place in card["candidates"]}.isdisjoint({"dropped"})
        assert card["content"] or card["form"] == "line"
        assert card["section_title"] == "Related"
    counted = sum(section["tokens"] for section in told["sections"]) + told["lines_tokens"] + told["frame_tokens"]
    assert counted == told["tokens"] == context.tokens


def test_the_shares_of_each_candidate_are_its_score(client):
    for recipe in ("default", "graph", "workspace", "memory"):
        for candidate in looked(client, recipe=recipe)["candidates"]:
            assert sum(candidate["shares"].values()) == pytest.approx(candidate["score"], abs=1e-4)


def test_near_misses_are_exact(client):
    told = looked(client)
    lacking = [each for each in told["candidates"] if each["missing_tokens"] and each["fate"] != "included"][:3]
    citations = [each["citation"] for each in lacking]
    body = {"query": "mirror", "budget": 400, "citations": citations}
    found = client.post(f"{LOOK}/near", json=body).json()["near"]
    assert {each["citation"] for each in found} == set(citations)
    for each in found:
        fates = [
            next(one["fate"] for one in looked(client, budget=400 + more)["candidates"] if one["node"] == each["node"])
            for more in (each["more"] - 1, each["more"])
        ]
        assert fates[0] != "included" and fates[1] == "included"


def test_the_nearest_of_all_is_found_without_naming_any(client):
    told = looked(client)
    near = client.post(f"{LOOK}/near", json={"query": "mirror", "budget": 400}).json()["near"]
    lacking = {each["citation"] for each in told["candidates"] if each["missing_tokens"]}

    def whole(budget):
        return {each["citation"] for each in looked(client, budget=budget)["candidates"] if each["fate"] == "included"}

    assert near[0]["more"] == next(more for more in range(1, 500) if whole(400 + more) & lacking)


def test_no_budget_lets_in_what_its_size_did_not_keep_out(client, filled):
    filled.add([Node(id=f"copy{n}", title="Twin", text="mirror twin of glass") for n in range(2)], workspace="studio")
    told = looked(client)
    kept_out = [each for each in told["candidates"] if each["fate"] == "dropped" and not each["missing_tokens"]]
    assert kept_out
    body = {"query": "mirror", "budget": 400, "citations": [kept_out[0]["citation"]]}
    assert client.post(f"{LOOK}/near", json=body).json()["near"][0]["more"] is None


def test_a_sentence_says_why(client):
    told = looked(client, query="mirror plan", budget=4000)
    reasons = {each["node"]: each["why"] for each in told["candidates"]}
    assert re.match(r"\d+(st|nd|rd|th) of \d+: ", reasons["note0"])
    assert "linked with “Mirror plan”" in reasons["note0"]
    told = looked(client)
    assert re.match(r"1st of \d+: contains mirror", told["candidates"][0]["why"])
    assert told["matches"] == ["mirror"]
    out = next(each for each in told["candidates"] if each["fate"] == "dropped")
    assert out["text"].startswith("mirror cell of glass")


def test_the_overview_counts_what_the_user_sees_and_asks_what_it_answers(client, filled):
    told, bens = (client.get(f"{LOOK}/overview", headers={"Weftwork-User": user}).json() for user in ("ana", "ben"))
    assert told["notes"] == 14 and bens["notes"] == 10
    assert told["documents"] == told["memories"] == 0
    assert told["changed_at"] is not None
    for question in told["questions"]:
        assert filled.context(question, user="ana", workspace="studio", budget=1000).excerpts
    assert "Salary" not in str(bens)


@pytest.mark.parametrize("recipe", ["default", "graph"])
def test_nothing_hidden_is_told(client, recipe):
    hidden = [f"note{number}" for number in (3, 7, 11)] + ["salary", "private", "Salary", "secret"]
    told = client.post(
        LOOK, json={"query": "mirror", "focus": "plan", "recipe": recipe}, headers={"Weftwork-User": "ben"}
    ).text
    nodes = client.get(f"{LOOK}/nodes?q=note", headers={"Weftwork-User": "ben"}).text
    latest = client.get(f"{LOOK}/nodes", headers={"Weftwork-User": "ben"}).text
    assert "note0" in told and "note0" in nodes
    for name in hidden:
        assert not re.search(rf"\b{name}\b", told + nodes + latest)
    assert "note3" in client.get(f"{LOOK}/nodes?q=note 3").text


def test_only_administrators_learn_who_the_users_are(shared, keys):
    with calling(shared) as client:
        read = client.get("/v1/inspect", headers=keys["read"]).json()
        admin = client.get("/v1/inspect", headers=keys["admin"]).json()
        both = client.get("/v1/inspect", headers=keys["both"]).json()
    assert read["workspaces"] == [{"name": "studio", "users": ["ana"]}]
    assert admin["workspaces"] == [{"name": "studio", "users": ["ana", "ben"]}]
    assert [each["name"] for each in both["workspaces"]] == ["other", "studio"]
    assert {"default", "graph", "thread"} <= {each["name"] for each in read["recipes"]}


def test_more_than_the_limits_is_refused(client):
    assert client.post(LOOK, json={"query": "x" * 9000}).status_code == 422
    assert client.post(LOOK, json={"budget": 900_000}).status_code == 422
    assert client.post(LOOK, json={"packer": "nonsense"}).status_code == 400
    assert client.post(LOOK, json={"nonsense": 1}).status_code == 422
    assert client.post(f"{LOOK}/near", json={"citations": ["x"] * 11}).status_code == 422


def test_sections_can_be_closed(client):
    told = looked(client, sections={"semantic": 0}, budget=4000)
    shut = [each for each in told["candidates"] if each["section"] == "semantic"]
    assert {each["fate"] for each in shut} == {"dropped"}
    assert "section semantic is closed" in {each["reason"] for each in shut}


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing_inline(client):
    page = client.get("/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy and "unsafe" not in policy
    assert not re.search(r"https?:|<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", page.text)
    named = set(re.findall(r'(?:src|href)="(assets/[^"]+)"', page.text))
    assert len(named) > 8
    for asset in named:
        assert client.get(f"/{asset}").status_code == 200


def test_the_assets_are_small_plain_and_never_write_markup():
    files = [path for path in WEB.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 150_000
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".js":
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
            for used in re.findall(r'from "\./([^"]+)"', text):
                assert (WEB / used).is_file()
        if path.suffix in (".js", ".css"):
            assert not re.search(r"https?://\w", text)
