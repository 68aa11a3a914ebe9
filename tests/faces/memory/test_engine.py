"""The engine against each line of the memory contract."""

import asyncio
import logging
import math
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from weftwork import Node, Template, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import DimensionError, EmbeddingError, InvalidInput, StoreError, UnknownName
from weftwork.faces.memory import (
    CacheConfig,
    ContextEngine,
    ContextEngineConfig,
    ContextOptions,
    Memories,
    MemoryRanker,
    RankingOptions,
    SearchOptions,
)
from weftwork.faces.memory.recipe import Plan, Ranking, recipe_for
from weftwork.text.tokens import get_counter

from .conftest import START

DAY = timedelta(days=1)
COUNT = get_counter("o200k_base").count


def contents(results):
    return [each.memory.content for each in results]


@pytest.fixture
def three(memories, clock):
    """Three memories about tea, with a growing distance to the question and in other orders by date and confidence."""
    made = [memories.remember("green tea", type="preference", confidence=0.2, conversation="c1")]
    clock.forward(days=1)
    made.append(memories.remember("green tea harbour", type="decision", confidence=0.9, conversation="c2"))
    clock.forward(days=1)
    made.append(memories.remember("green harbour lantern mirror", type="fact", confidence=0.5, conversation="c1"))
    clock.forward(days=1)
    return made


class TestConfiguration:
    def test_the_defaults_are_those_of_the_contract(self, weft):
        config = ContextEngineConfig(storage_client=weft)
        assert (config.default_template, config.default_token_budget) == ("chat", 2000)
        options = ContextOptions()
        assert (options.limit, options.include_relationships, options.relationship_depth) == (None, False, 1)
        assert (options.template, options.token_budget, options.ranker) == (None, None, "default")

    def test_dimensions_that_are_not_the_expected_ones_are_refused(self, weft):
        dimensions = weft.tools.embedder.dimensions
        ContextEngine(ContextEngineConfig(storage_client=weft, expected_embedding_dimensions=dimensions))
        with pytest.raises(DimensionError, match="not the expected 1536: give the provider"):
            ContextEngine(ContextEngineConfig(storage_client=weft, expected_embedding_dimensions=1536))

    def test_a_provider_that_is_not_the_stores_model_is_refused_with_the_remedy(self, weft, tmp_path):
        with pytest.raises(InvalidInput, match=r"opened with the model .* have no vectors of 'hashing-8'.*Weft.open"):
            ContextEngine(ContextEngineConfig(storage_client=weft, embedding_provider=HashingEmbedder(8)))
        with Weft.open(tmp_path / "blind.weft", embedder=None) as blind, pytest.raises(InvalidInput, match="without"):
            ContextEngine(ContextEngineConfig(storage_client=blind, embedding_provider=HashingEmbedder(8)))

    def test_memories_of_another_model_are_embedded_before_the_first_query(self, tmp_path, ask):
        path = tmp_path / "other.weft"
        with Weft.open(path, embedder="hashing") as before:
            Memories(before).remember("green tea")
        with Weft.open(path, embedder=HashingEmbedder(32)) as weft:
            vector = weft.tools.embedder.embed("green tea")
            found = ask(ContextEngine(ContextEngineConfig(storage_client=weft)).search_by_vector(vector, "main"))
            assert contents(found) == ["green tea"]
            assert weft.store.waiting("main", weft.tools.embedder.model) == 0

    def test_more_than_a_query_can_embed_are_an_error_that_names_the_worker(self, tmp_path, fail, monkeypatch):
        path = tmp_path / "other.weft"
        with Weft.open(path, embedder="hashing") as before:
            for n in range(3):
                Memories(before).remember(f"green tea {n}")
        monkeypatch.setattr("weftwork.faces.memory.reading.MOST_EMBEDDED", 2)
        with Weft.open(path, embedder=HashingEmbedder(32)) as weft:
            error = fail(ContextEngine(ContextEngineConfig(storage_client=weft)).search("tea", "main"))
        assert error.type == "embedding_error"
        assert "3 texts in 'main' have no vector of 'hashing-32'" in error.message
        assert "weftwork worker --once" in error.message

    def test_without_a_provider_no_dimensions_can_be_expected(self, tmp_path):
        with Weft.open(tmp_path / "blind.weft", embedder=None) as blind:
            ContextEngine(ContextEngineConfig(storage_client=blind))
            with pytest.raises(InvalidInput, match="there is no embedding provider"):
                ContextEngine(ContextEngineConfig(storage_client=blind, expected_embedding_dimensions=3))

    @pytest.mark.parametrize(
        ("settings", "error"),
        [
            ({"default_template": "fancy"}, UnknownName),
            ({"default_token_budget": 0}, InvalidInput),
            ({"decay": {"remark": 0}}, InvalidInput),
            ({"decay": {"remark": "soon"}}, InvalidInput),
            ({"cache_config": CacheConfig(max_size=-1)}, InvalidInput),
        ],
    )
    def test_settings_that_cannot_be_used_are_refused(self, weft, settings, error):
        with pytest.raises(error):
            ContextEngine(ContextEngineConfig(storage_client=weft, **settings))

    def test_a_query_is_embedded_once_as_the_cache_allows(self, weft, memories, ask):
        class Counting(HashingEmbedder):
            asked = 0

            def embed_batch(self, texts):
                Counting.asked += len(texts)
                return super().embed_batch(texts)

        provider = Counting(weft.tools.embedder.dimensions)
        memories.remember("green tea")
        for size, times in ((10, 1), (0, 3)):
            Counting.asked = 0
            engine = ContextEngine(
                ContextEngineConfig(
                    storage_client=weft, embedding_provider=provider, cache_config=CacheConfig(max_size=size, ttl=60)
                )
            )
            for limit in (1, 2, 3):
                ask(engine.search("tea", "main", SearchOptions(limit=limit)))
            assert Counting.asked == times


class TestSearch:
    def test_a_search_with_what_is_related_reads_one_snapshot(self, weft, engine, memories, ask, monkeypatch):
        memories.remember("green tea from Uji")
        ask(engine.search("tea", "main"))  # the first query looks for texts without a vector as well
        views, view = [], weft.store.view
        monkeypatch.setattr(weft.store, "view", lambda *who: views.append(who) or view(*who))
        assert ask(engine.search("tea", "main", SearchOptions(include_relationships=True)))
        assert len(views) == 1

    def test_the_most_similar_come_first_by_words_and_meaning(self, weft, engine, three, ask):
        found = ask(engine.search("green tea", "main"))
        assert contents(found) == ["green tea", "green tea harbour", "green harbour lantern mirror"]
        with weft.store.view("main", "me") as view:
            hits = view.search_words("green tea", limit=10, filters=SearchOptions().filters())
            words = {record.node.id: hit.score for hit in hits for record in view.load([hit.key])}
        embed = weft.tools.embedder.embed
        for each in found:
            by_words = words[each.memory.id] / math.sqrt(max(words.values()))
            cosine = float(embed("green tea") @ embed(f"\n{each.memory.content}"))
            assert each.score == pytest.approx(1 - (1 - by_words) * (1 - 0.6 * cosine), abs=1e-5)
            assert each.relationships is None
        assert found[0].memory.confidence == 0.2

    def test_by_a_vector_the_score_is_the_cosine(self, weft, engine, three, ask):
        embed = weft.tools.embedder.embed
        for each in ask(engine.search_by_vector(embed("green tea"), "main")):
            wanted = float(embed("green tea") @ embed(f"\n{each.memory.content}"))
            assert each.score == pytest.approx(wanted, abs=1e-5)

    def test_a_search_finds_what_only_words_find(self, tmp_path, ask):
        """Twelve memories are nearer by vector than the one with the rare word of the question."""

        class Tea:
            model, dimensions = "tea", 2

            def embed_batch(self, texts):
                return [[1.0, 1.0] if "tea" in text else [1.0, 0.0] if len(text) < 20 else [0.0, 1.0] for text in texts]

        with Weft.open(tmp_path / "tea.weft", embedder=Tea()) as weft:
            for n in range(12):
                Memories(weft).remember(f"tea {n}")
            wanted = Memories(weft).remember("The quartermaster has the keys.")
            engine = ContextEngine(ContextEngineConfig(storage_client=weft))
            vector = Tea().embed_batch(["quartermaster"])[0]
            assert wanted.id not in {each.memory.id for each in ask(engine.search_by_vector(vector, "main"))}
            assert ask(engine.search("quartermaster", "main"))[0].memory.id == wanted.id
            assert ask(engine.build_context("quartermaster", "main")).memories[0].memory.id == wanted.id

    def test_a_vector_finds_what_its_text_finds(self, weft, engine, three, ask):
        vector = weft.tools.embedder.embed("green tea")
        by_text = ask(engine.search("green tea", "main"))
        for given in (vector, vector.tolist(), tuple(vector.tolist())):
            found = ask(engine.search_by_vector(given, "main"))
            assert [each.memory.id for each in found] == [each.memory.id for each in by_text]
        built = ask(engine.build_context_by_vector(vector.tolist(), "main"))
        assert set(contents(built.memories)) == set(contents(by_text))

    def test_vectors_that_differ_late_are_told_apart(self, weft, engine, three, ask):
        """A cache that looked at a shortened vector would mix them up."""
        one = weft.tools.embedder.embed("green tea")
        other = one.copy()
        other[len(other) // 2] += 0.5
        first = ask(engine.build_context_by_vector(one, "main", ContextOptions(template="chat")))
        second = ask(engine.build_context_by_vector(other, "main", ContextOptions(template="chat")))
        assert [each.score for each in first.memories] != [each.score for each in second.memories]

    @pytest.mark.parametrize(
        ("options", "wanted"),
        [
            ({"limit": 1}, {"green tea"}),
            ({"limit": 2}, {"green tea", "green tea harbour"}),
            ({"memory_types": ("decision", "fact")}, {"green tea harbour", "green harbour lantern mirror"}),
            ({"date_from": START + DAY}, {"green tea harbour", "green harbour lantern mirror"}),
            ({"date_to": START + DAY}, {"green tea", "green tea harbour"}),
            ({"date_from": START + DAY, "date_to": START + DAY}, {"green tea harbour"}),
            ({"min_confidence": 0.5}, {"green tea harbour", "green harbour lantern mirror"}),
            ({"conversation_id": "c1"}, {"green tea", "green harbour lantern mirror"}),
            ({"as_of": START}, {"green tea"}),
            ({"as_of": START - DAY}, set()),
            ({"user": "ben"}, set()),
        ],
    )
    def test_each_option_holds_in_searches_and_contexts(self, engine, three, ask, options, wanted):
        assert set(contents(ask(engine.search("green tea", "main", SearchOptions(**options))))) == wanted
        built = ask(engine.build_context("green tea", "main", ContextOptions(**options)))
        assert set(contents(built.memories)) == wanted

    def test_only_memories_are_found(self, weft, engine, memories, ask):
        weft.add([Node(id="page", type="page", title="Tea", text="green tea")])
        memories.remember("green tea")
        assert len(ask(engine.search("green tea", "main"))) == 1

    def test_a_long_memory_is_one_result_with_all_of_its_text(self, engine, memories, ask):
        long = "\n\n".join(f"Paragraph {n} about green tea. " + "word " * 150 for n in range(6))
        memories.remember(long)
        (found,) = ask(engine.search("green tea", "main"))
        assert found.memory.content == long

    def test_without_embeddings_words_decide(self, tmp_path, clock, ask):
        with Weft.open(tmp_path / "blind.weft", embedder=None, clock=clock) as blind:
            for text in ("green tea", "a harbour", "tea from a harbour"):
                Memories(blind).remember(text)
            engine = ContextEngine(ContextEngineConfig(storage_client=blind))
            found = ask(engine.search("tea harbour", "main"))
            assert contents(found)[0] == "tea from a harbour"
            assert found[0].score > found[1].score > 0
            assert asyncio.run(engine.search_by_vector([1.0], "main")).error.type == "validation_error"

    def test_nothing_to_find_is_an_empty_answer(self, engine, ask):
        assert ask(engine.search("anything", "main")) == ()
        built = ask(engine.build_context("anything", "main"))
        assert (built.context, built.token_count, built.memories, built.truncated) == ("", 0, (), False)


class TestRanking:
    def by_hand(self, result, weights, now):
        days = (now - result.memory.created_at) / DAY
        return (
            result.score * weights.similarity_weight
            + 1 / (1 + days) * weights.recency_weight
            + result.memory.confidence * weights.confidence_weight
        )

    @pytest.mark.parametrize(
        "weights",
        [
            RankingOptions(),
            RankingOptions(similarity_weight=0.2, recency_weight=0.1, confidence_weight=0.7),
            RankingOptions(similarity_weight=1, recency_weight=1, confidence_weight=1),
            RankingOptions(similarity_weight=0, recency_weight=0.5, confidence_weight=0),
        ],
    )
    def test_the_default_is_the_weighted_sum_of_the_contract(self, engine, three, clock, ask, weights):
        built = ask(engine.preview_context("green tea", "main", ContextOptions(ranking=weights)))
        ranks = [each.rank for each in built.memories]
        assert ranks == sorted(ranks, reverse=True)
        for each in built.memories:
            assert each.rank == pytest.approx(self.by_hand(each, weights, clock.now), abs=1e-6)
            assert built.ranking_scores[each.memory.id] == each.rank

    def test_a_worked_example(self, weft, memories, engine, clock, ask):
        """Same vector: similarity 1. Made 3 days ago, so recency 1/4; confidence 0.5: 0.6 + 0.05 + 0.1 = 0.75."""
        memories.remember("green tea", confidence=0.5)
        clock.forward(days=3)
        (found,) = ask(engine.build_context_by_vector(weft.tools.embedder.embed("\ngreen tea"), "main")).memories
        assert found.score == pytest.approx(1.0, abs=1e-6)
        assert found.rank == pytest.approx(0.75, abs=1e-6)

    @pytest.mark.parametrize(
        ("ranker", "wanted"),
        [
            ("by_similarity", ["green tea", "green tea harbour", "green harbour lantern mirror"]),
            ("by_recency", ["green harbour lantern mirror", "green tea harbour", "green tea"]),
            ("by_confidence", ["green tea harbour", "green harbour lantern mirror", "green tea"]),
            ("hybrid", ["green tea", "green tea harbour", "green harbour lantern mirror"]),
        ],
    )
    def test_the_other_rankings_go_by_one_thing(self, engine, three, ask, ranker, wanted):
        weights = RankingOptions(similarity_weight=1, recency_weight=0, confidence_weight=0)
        built = ask(engine.build_context("green tea", "main", ContextOptions(ranker=ranker, ranking=weights)))
        assert contents(built.memories) == wanted
        assert [line.removeprefix("- ") for line in built.context.splitlines()[2:]][: len(wanted)] == wanted

    def test_by_recency_tells_seconds_apart(self, engine, memories, clock, ask):
        for n in range(4):
            memories.remember(f"tea {n}")
            clock.forward(seconds=1)
        built = ask(engine.build_context("tea", "main", ContextOptions(ranker="by_recency")))
        assert contents(built.memories) == ["tea 3", "tea 2", "tea 1", "tea 0"]

    def test_what_was_said_next_to_a_hit_in_its_conversation_is_in_a_context(self, engine, memories, clock, ask):
        for text in ("Where did the violin come from?", "From my grandfather, in Cremona."):
            memories.remember(text, conversation="c1")
            clock.forward(minutes=1)
        memories.remember("A bicycle is in the cellar.", conversation="c2")
        chosen = ContextOptions(min_score=0.3)
        built = ask(engine.build_context("violin", "main", chosen))
        assert contents(built.memories) == ["Where did the violin come from?", "From my grandfather, in Cremona."]
        first, second = built.memories
        assert second.score == pytest.approx(0.8 * first.score, abs=1e-6)
        assert contents(ask(engine.search("violin", "main", chosen))) == ["Where did the violin come from?"]
        limited = ask(engine.build_context("violin", "main", ContextOptions(min_score=0.3, limit=1)))
        assert contents(limited.memories) == ["Where did the violin come from?"]
        others = ContextOptions(min_score=0.3, conversation_id="c2")
        assert ask(engine.build_context("violin", "main", others)).memories == ()

    def test_the_functions_rank_a_list_at_hand_in_the_same_way(self, engine, three, clock, ask):
        found = ask(engine.search("green tea", "main"))
        weights = RankingOptions(similarity_weight=0.3, recency_weight=0.3, confidence_weight=0.4)
        built = ask(engine.build_context("green tea", "main", ContextOptions(ranking=weights)))
        ranked = MemoryRanker.default_ranking(built.memories[::-1], weights, now=clock.now)
        assert contents(ranked) == contents(built.memories)
        assert [each.rank for each in ranked] == pytest.approx([each.rank for each in built.memories], abs=1e-6)
        assert contents(MemoryRanker.by_similarity(found)) == contents(found)
        assert contents(MemoryRanker.by_recency(found)) == [each.content for each in reversed(three)]
        assert contents(MemoryRanker.by_confidence(found))[0] == "green tea harbour"
        assert contents(MemoryRanker.custom(found, lambda each: len(each.memory.content)))[-1] == "green tea"

    def test_confidence_that_is_not_known_is_not_counted_as_doubt(self, weft, engine, memories, ask):
        memories.remember("green tea")
        (found,) = ask(engine.build_context_by_vector(weft.tools.embedder.embed("\ngreen tea"), "main")).memories
        assert found.rank == pytest.approx(1.0, abs=1e-6)

    def test_a_list_at_hand_without_confidences_is_ranked_as_the_engine_ranks_it(self, weft, memories, clock, ask):
        memories.remember("green tea", confidence=0.1)
        clock.forward(days=2)
        memories.remember("green tea harbour", type="remark")
        memories.remember("green harbour lantern", type="decision")
        clock.forward(days=2)
        engine = ContextEngine(ContextEngineConfig(storage_client=weft, decay={"decision": "never", "remark": 0.5}))
        found = ask(engine.search("green tea", "main"))
        ranked = MemoryRanker.default_ranking(found, now=clock.now, decay={"decision": math.inf, "remark": 0.5})
        built = ask(engine.build_context("green tea", "main")).memories
        assert contents(ranked) == contents(built)
        assert [each.rank for each in ranked] == pytest.approx([each.rank for each in built], abs=1e-6)

    def test_the_limit_is_by_similarity_before_the_ranking(self, engine, three, ask):
        options = ContextOptions(limit=2, ranker="by_recency")
        built = ask(engine.build_context("green tea", "main", options))
        assert contents(built.memories) == ["green tea harbour", "green tea"]

    def test_a_type_with_its_own_decay_fades_at_that_pace(self, weft, memories, clock, ask):
        for kind in ("decision", "remark", "fact"):
            memories.remember(f"green tea {kind}", type=kind, confidence=0.5)
        clock.forward(days=4)
        config = ContextEngineConfig(storage_client=weft, decay={"decision": "never", "remark": 0.5})
        weights = RankingOptions(similarity_weight=0, recency_weight=1, confidence_weight=0)
        built = ask(ContextEngine(config).build_context("tea", "main", ContextOptions(ranking=weights)))
        # 1 for ever; the contract's 1 / (1 + 4); 1 / (1 + 4 / 0.5)
        assert {each.memory.type: each.rank for each in built.memories} == pytest.approx(
            {"decision": 1.0, "fact": 1 / 5, "remark": 1 / 9}, abs=1e-6
        )


class TestOwnRankers:
    def test_one_that_returns_a_list_decides_the_order(self, engine, three, ask):
        def by_length(results, options):
            assert isinstance(options, RankingOptions)
            return sorted(results, key=lambda each: -len(each.memory.content))

        engine.register_ranker("by-length", by_length)
        for ranker in ("by-length", by_length):
            built = ask(engine.build_context("green tea", "main", ContextOptions(ranker=ranker)))
            assert contents(built.memories) == ["green harbour lantern mirror", "green tea harbour", "green tea"]

    def test_one_that_sorts_in_place_does_too(self, engine, three, ask):
        def in_place(results, options):
            results.sort(key=lambda each: each.memory.created_at, reverse=True)

        built = ask(engine.build_context("green tea", "main", ContextOptions(ranker=in_place)))
        assert contents(built.memories)[0] == "green harbour lantern mirror"

    def test_one_of_the_results_alone_may_sort_them_as_in_the_contracts_example(self, engine, three, ask):
        def recent_only(results):
            return results.sort(key=lambda each: each.memory.created_at, reverse=True)

        engine.register_ranker("recent-only", recent_only)
        built = ask(engine.preview_context("green tea", "main", ContextOptions(ranker="recent-only")))
        assert contents(built.memories) == ["green harbour lantern mirror", "green tea harbour", "green tea"]
        scores = [built.ranking_scores[name] for name in built.memory_ids]
        assert scores == sorted(scores, reverse=True) and len(set(scores)) == 3

    def test_its_scores_are_reported(self, engine, three, ask):
        def ranker(results, options):
            return MemoryRanker.custom(results, lambda each: len(each.memory.content))

        built = ask(engine.preview_context("green tea", "main", ContextOptions(ranker=ranker)))
        assert set(built.ranking_scores.values()) == {28.0, 17.0, 9.0}

    def test_a_score_of_zero_is_a_score(self, engine, three, ask):
        def ranker(results, options):
            return [replace(each, rank=0.0) for each in results]

        built = ask(engine.preview_context("green tea", "main", ContextOptions(ranker=ranker)))
        assert set(built.ranking_scores.values()) == {0.0}

    def test_the_highest_ranked_are_kept_when_the_budget_is_small(self, engine, three, ask):
        def last_first(results, options):
            return list(reversed(results))

        whole = ask(engine.build_context("green tea", "main", ContextOptions(ranker=last_first)))
        small = ContextOptions(ranker=last_first, token_budget=whole.token_count - 1)
        built = ask(engine.build_context("green tea", "main", small))
        assert built.truncated and not whole.truncated
        assert contents(built.memories) == contents(whole.memories)[:-1]

    def test_what_it_drops_is_left_out_and_what_it_repeats_comes_once(self, engine, three, ask):
        built = ask(engine.build_context("green tea", "main", ContextOptions(ranker=lambda found, _: found[1:] * 2)))
        assert len(built.memories) == 2
        assert ask(engine.build_context("green tea", "main", ContextOptions(ranker=lambda *_: []))).context == ""

    @pytest.mark.parametrize(
        ("ranker", "message"),
        [
            (lambda results, options: 1 / 0, "the ranker failed with ZeroDivisionError"),
            (lambda results, options: 7, "the ranker failed with TypeError"),
            (lambda results, options: ["x"], "something that it was not given"),
            (lambda: [], "it is given the results, and the weights if it takes two arguments"),
            (lambda results, options: [replace(each, rank="x") for each in results], "a rank of 'x': give a number"),
            (lambda results, options: [replace(each, rank=math.nan) for each in results], "a rank of nan"),
        ],
    )
    def test_one_that_fails_gives_a_clear_error(self, engine, three, fail, ranker, message):
        error = fail(engine.build_context("green tea", "main", ContextOptions(ranker=ranker)))
        assert error.type == "validation_error"
        assert message in error.message

    def test_one_cannot_bring_in_what_it_was_not_given_nor_change_what_is_said(
        self, engine, memories, three, ask, fail
    ):
        hidden = memories.remember("secret", user="ben")

        def smuggle(results, options):
            return [replace(results[0], memory=hidden), *results]

        def rewrite(results, options):
            return [replace(each, memory=replace(each.memory, content="forged")) for each in results]

        error = fail(engine.build_context("green tea", "main", ContextOptions(ranker=smuggle)))
        assert "secret" not in str(error)
        built = ask(engine.build_context("green tea", "main", ContextOptions(ranker=rewrite)))
        assert "forged" not in str(built)

    def test_an_unknown_one_is_told_with_the_names_of_all(self, engine, fail):
        error = fail(engine.build_context("tea", "main", ContextOptions(ranker="nope")))
        assert error.type == "validation_error"
        assert "by_confidence, by_recency, by_similarity, default, hybrid" in error.message

    def test_what_cannot_be_called_cannot_be_registered(self, engine):
        with pytest.raises(InvalidInput, match="must be a function"):
            engine.register_ranker("x", 3)


class TestTemplates:
    def test_the_three_of_the_contract(self, engine, memories, ask):
        memories.remember("green tea", type="preference", confidence=0.9)
        memories.remember("black tea", type="fact", confidence=0.4)
        texts = {
            name: ask(engine.build_context("green tea", "main", ContextOptions(template=name)))
            for name in ("chat", "detailed", "summary")
        }
        assert texts["chat"].context == "Relevant context from past conversations:\n\n- green tea\n- black tea\n"
        assert texts["detailed"].context == (
            "Relevant memories:\n\n"
            "[preference] green tea (confidence: 0.9, 2026-03-01T12:00:00Z)\n\n"
            "[fact] black tea (confidence: 0.4, 2026-03-01T12:00:00Z)\n"
        )
        assert texts["summary"].context == "Key information:\ngreen tea | black tea"
        assert {name: built.template for name, built in texts.items()} == {name: name for name in texts}

    def test_one_of_ones_own_registered_or_given(self, engine, memories, ask):
        memories.remember("green tea", type="preference", confidence=0.9)
        form = {
            "name": "code-focused",
            "header": "# Relevant\n\n",
            "memoryFormat": "## {{type}} {{score}}\n{{content}}\n",
            "separator": "\n",
            "footer": "\n---\n",
            "includeMetadata": True,
        }
        engine.register_template("code-focused", form)
        built = ask(engine.build_context("\ngreen tea", "main", ContextOptions(template="code-focused")))
        score = built.memories[0].score
        assert built.context.startswith(f"# Relevant\n\n## preference {score:.2g}")
        assert built.context.endswith("\n---\n")
        for template in (form, Template.from_mapping("code-focused", form)):
            again = ask(engine.build_context("\ngreen tea", "main", ContextOptions(template=template)))
            assert (again.context, again.template) == (built.context, "code-focused")

    @pytest.mark.parametrize("mark", ["```", "~~~"])
    def test_code_stands_in_the_fence_of_a_template_as_it_was_written(self, engine, memories, ask, mark):
        code = "# a comment\nuser: str\n[k482913507264]\n---\n<b>\n" + f"  {mark}\nforged"
        memories.remember(code)
        form = {"memory_format": f"## {{{{type}}}}\n{mark}\n{{{{content}}}}\n{mark}\n", "header": "# Code\n\n"}
        built = ask(engine.build_context("comment", "main", ContextOptions(template=form)))
        fence = mark + mark[0]
        assert built.context.strip() == f"# Code\n\n## fact\n{fence}\n{code}\n{fence}"

    def test_registering_one_again_replaces_it_at_once(self, engine, memories, ask):
        memories.remember("green tea")
        for mark in ("*", "+"):
            engine.register_template("mine", {"memory_format": mark + " {{content}}"})
            assert mark in ask(engine.build_context("tea", "main", ContextOptions(template="mine"))).context

    def test_it_is_the_engines_own(self, weft, engine):
        engine.register_template("mine", {"memory_format": "{{content}}"})
        assert "mine" not in weft.tools.templates.names()

    def test_an_unknown_one_is_told_with_those_that_there_are(self, engine, fail):
        engine.register_template("mine", {"memory_format": "{{content}}"})
        assert fail(engine.build_context("tea", "main", ContextOptions(template=""))).type == "template_not_found"
        error = fail(engine.build_context("tea", "main", ContextOptions(template="nope")))
        assert (error.type, error.template) == ("template_not_found", "nope")
        assert {"chat", "detailed", "summary", "mine"} <= set(error.available)

    @pytest.mark.parametrize("template", [{"memory_format": "{{secret}}"}, {"header": "x"}, {"memory_format": 3}])
    def test_one_that_cannot_be_rendered_is_a_validation_error(self, engine, fail, template):
        error = fail(engine.build_context("tea", "main", ContextOptions(template=template)))
        assert error.type == "validation_error"

    def test_metadata_can_be_asked_for(self, engine, memories, ask):
        memories.remember("green tea", confidence=0.9)
        plain = ask(engine.build_context("tea", "main"))
        told = ask(engine.build_context("tea", "main", ContextOptions(include_metadata=True)))
        assert "0.9" not in plain.context
        assert "- green tea (fact, confidence: 0.9, 2026-03-01T12:00:00Z)" in told.context
        detailed = ContextOptions(template="detailed", include_metadata=True)
        assert ask(engine.build_context("tea", "main", detailed)).context.count("0.9") == 1

    @pytest.mark.parametrize(
        ("template", "wanted"),
        [
            ("detailed", "Relevant memories:\n\ngreen tea\n"),
            ("chat", "Relevant context from past conversations:\n\n- green tea\n"),
            ({"memory_format": "* {{type}}: {{content}}"}, "* green tea"),
        ],
    )
    def test_metadata_can_be_left_out(self, engine, memories, ask, template, wanted):
        memories.remember("green tea", confidence=0.9)
        options = ContextOptions(template=template, include_metadata=False)
        assert ask(engine.build_context("tea", "main", options)).context.strip() == wanted.strip()


class TestBudgetAndPreview:
    def test_the_text_never_counts_more_and_the_count_is_exact(self, engine, memories, ask):
        for n in range(12):
            memories.remember(f"tea number {n} " + "leaf " * n)
        for budget in (1, 5, 15, 30, 60, 120, 2000):
            built = ask(engine.preview_context("tea", "main", ContextOptions(token_budget=budget, limit=12)))
            assert built.token_count == COUNT(built.context) <= budget
            assert built.budget_used == round(100 * built.token_count / budget, 1)
            assert built.truncated == (len(built.memories) < 12)

    def test_without_a_limit_there_are_as_many_as_the_budget_holds(self, engine, memories, ask):
        for n in range(80):
            memories.remember(f"tea number {n} of the harbour")
        for budget in (100, 300, 2000):
            built = ask(engine.build_context("tea", "main", ContextOptions(token_budget=budget)))
            assert built.truncated == (len(built.memories) < 80)
            assert built.token_count > 0.9 * budget or len(built.memories) == 80
        assert len(ask(engine.search("tea", "main"))) == 10

    def test_the_default_budget_is_the_engines(self, weft, memories, ask):
        for n in range(10):
            memories.remember(f"tea number {n} " + "leaf " * 10)
        small = ContextEngine(ContextEngineConfig(storage_client=weft, default_token_budget=40))
        assert ask(small.build_context("tea", "main")).token_count <= 40

    @pytest.mark.parametrize("template", ["chat", "detailed", "summary"])
    @pytest.mark.parametrize("ranker", ["default", "by_recency"])
    def test_the_preview_equals_the_result(self, engine, three, ask, template, ranker):
        for budget in (25, 60, 2000):
            options = ContextOptions(template=template, ranker=ranker, token_budget=budget, include_relationships=True)
            built = ask(engine.build_context("green tea", "main", options))
            preview = ask(engine.preview_context("green tea", "main", options))
            for name in ("context", "token_count", "memories", "truncated", "template"):
                assert getattr(preview, name) == getattr(built, name)
            assert preview.memory_ids == tuple(each.memory.id for each in built.memories)
            assert set(preview.ranking_scores) == set(preview.memory_ids)

    def test_a_memory_that_is_too_long_is_shortened_if_it_is_the_best_and_told(self, engine, memories, ask):
        long = memories.remember("tea " * 400)
        memories.remember("a harbour")
        built = ask(engine.build_context("tea", "main", ContextOptions(token_budget=50)))
        assert built.truncated and [each.memory for each in built.memories] == [long]
        assert "tea tea" in built.context and built.token_count == COUNT(built.context) <= 50

    def test_a_long_memory_is_whole_and_in_its_order(self, engine, memories, ask):
        text = "\n\n".join(
            f"Paragraph {n} " + ("about green tea. " if n == 4 else "") + "word " * 120 for n in range(6)
        )
        memories.remember(text)
        memories.remember("green tea")
        built = ask(engine.build_context("green tea", "main"))
        assert not built.truncated
        places = [built.context.index(f"Paragraph {n} ") for n in range(6)]
        assert places == sorted(places)
        assert " ".join(built.context.split()).count(" ".join(text.split())) == 1
        assert built.context.count("- ") == 2

    @pytest.mark.parametrize("template", ["chat", "detailed", "summary"])
    def test_a_memory_that_is_cut_has_a_mark_and_the_context_says_so(self, engine, memories, ask, template):
        memories.remember(" ".join(f"Sentence {n} is about the weather on that day." for n in range(90)))
        built = ask(engine.build_context("weather", "main", ContextOptions(token_budget=200, template=template)))
        assert built.truncated and built.template == template
        assert 150 < built.token_count <= 200
        assert "…" in built.context

    @pytest.mark.parametrize("template", ["chat", "detailed", "summary"])
    def test_no_other_template_takes_the_place_of_one_that_does_not_fit(self, engine, memories, ask, template):
        memories.remember("green tea", confidence=0.9)
        sizes = range(1, 40)
        for budget in sizes:
            built = ask(engine.build_context("tea", "main", ContextOptions(token_budget=budget, template=template)))
            whole = ask(engine.build_context("tea", "main", ContextOptions(template=template)))
            assert built.context in ("", whole.context)
            assert built.template == template
            assert built.truncated is not bool(built.context)
            wanted = () if built.context else (f"a budget of {budget} tokens holds no excerpt",)
            assert tuple(warning.partition(":")[0] for warning in built.warnings) == wanted
        assert {bool(built.context), whole.token_count in sizes} == {True}

    @pytest.mark.parametrize("template", ["chat", "detailed", "summary"])
    def test_the_tokens_that_a_warning_asks_for_hold_a_part_of_a_long_memory(self, engine, memories, ask, template):
        memories.remember(" ".join(f"On day {day} the keeper saw wind." for day in range(200)))
        options = ContextOptions(token_budget=3, template=template)
        warning = ask(engine.build_context("keeper", "main", options)).warnings[0]
        wanted = int(warning.rpartition(" ")[2])
        built = ask(engine.build_context("keeper", "main", replace(options, token_budget=wanted)))
        assert (bool(built.context), wanted < 100) == (True, True)

    def test_the_tokens_that_a_warning_asks_for_hold_the_best_where_a_worse_one_is_shorter(self, engine, memories, ask):
        memories.remember("Ana prefers green tea.", confidence=0.9)
        memories.remember("tea")
        options = ContextOptions(token_budget=3, template="detailed")
        warning = ask(engine.build_context("What tea does Ana prefer?", "main", options)).warnings[0]
        wanted = int(warning.rpartition(" ")[2])
        least = ask(engine.build_context("What tea does Ana prefer?", "main", replace(options, token_budget=wanted)))
        assert ("Ana prefers" in least.context, least.token_count >= wanted - 1) == (True, True)


class TestRelationships:
    @pytest.fixture
    def chain(self, memories):
        made = [memories.remember(text) for text in ("green tea", "harbour", "lantern", "mirror")]
        for one, other in pairwise(made):
            memories.relate(one.id, other.id, "leads_to", label="then")
        memories.relate(made[2].id, made[0].id, "back")
        return made

    @pytest.mark.parametrize(
        ("depth", "wanted"),
        [
            (1, {"harbour": 1, "lantern": 1}),
            (2, {"harbour": 1, "lantern": 1, "mirror": 2}),
            (5, {"harbour": 1, "lantern": 1, "mirror": 2}),
        ],
    )
    def test_they_are_followed_to_a_depth_each_memory_once(self, engine, chain, ask, depth, wanted):
        options = SearchOptions(limit=1, include_relationships=True, relationship_depth=depth)
        (found,) = ask(engine.search("green tea", "main", options))
        assert {each.memory.content: each.depth for each in found.relationships} == wanted
        assert len(found.relationships) == len(wanted)
        first = next(each for each in found.relationships if each.memory.content == "harbour")
        assert (first.relationship.type, first.relationship.label) == ("leads_to", "then")
        assert (first.relationship.source, first.relationship.target) == (chain[0].id, chain[1].id)

    def test_a_context_holds_what_the_results_are_related_to_each_once(self, engine, chain, ask):
        alone = ask(engine.build_context("green tea", "main", ContextOptions(limit=1)))
        assert contents(alone.memories) == ["green tea"]
        options = ContextOptions(limit=1, include_relationships=True, relationship_depth=2)
        built = ask(engine.build_context("green tea", "main", options))
        assert sorted(contents(built.memories)) == ["green tea", "harbour", "lantern", "mirror"]
        assert built.context.count("harbour") == 1

    def test_a_moment_without_a_zone_is_in_utc(self, engine, chain, ask):
        options = SearchOptions(include_relationships=True, as_of=START.replace(tzinfo=None))
        assert len(ask(engine.search("green tea", "main", options))[0].relationships) == 2

    def test_what_many_lead_to_is_found_once_and_a_hub_does_not_bring_everything(self, engine, memories, ask):
        hub = memories.remember("the hub")
        leaves = [memories.remember(f"green tea {n}") for n in range(130)]
        for leaf in leaves:
            memories.relate(leaf.id, hub.id)
        options = ContextOptions(limit=5, include_relationships=True, relationship_depth=5, token_budget=5000)
        built = ask(engine.build_context("green tea", "main", options))
        assert contents(built.memories).count("the hub") == 1
        assert len(built.memories) <= 5 + 1 + 100

    def test_a_memory_with_many_relationships_brings_them_all(self, engine, memories, ask):
        hub = memories.remember("green tea")
        for n in range(40):
            memories.relate(hub.id, memories.remember(f"leaf {n}").id)
        (found,) = ask(engine.search("green tea", "main", SearchOptions(limit=1, include_relationships=True)))
        assert len(found.relationships) == 40

    def test_nothing_hidden_and_nothing_that_is_over_is_related(self, weft, engine, memories, clock, ask):
        own = memories.remember("green tea", access=["*"])
        private = memories.remember("secret harbour")
        beyond = memories.remember("mirror", access=["*"])
        over = memories.remember("stale lantern", access=["*"], valid_until=START + DAY)
        last = memories.remember("beyond stale", access=["*"])
        for one, other in ((own, private), (private, beyond), (own, over), (over, last)):
            memories.relate(one.id, other.id)
        clock.forward(days=2)
        options = ContextOptions(limit=1, include_relationships=True, relationship_depth=3, user="ben")
        built = ask(engine.build_context("green tea", "main", options))
        assert contents(built.memories) == ["green tea"]
        assert built.memories[0].relationships == ()
        mine = ask(engine.build_context("green tea", "main", replace(options, user="me")))
        assert sorted(contents(mine.memories)) == ["green tea", "mirror", "secret harbour"]


class TestContradictions:
    @pytest.fixture
    def quarrel(self, memories, clock):
        old = memories.remember("We ship green tea in May.", access=["*"])
        clock.forward(days=9)
        new = memories.remember("The ship leaves in June.", contradicts=[old.id], access=["*"])
        memories.remember("green tea", access=["*"])
        return old, new

    def test_both_are_shown_together_with_their_dates_the_newer_first(self, engine, quarrel, ask):
        built = ask(engine.build_context("we ship green tea in may", "main", ContextOptions(limit=1)))
        assert built.context.splitlines()[2:4] == [
            "- The ship leaves in June. (2026-03-10, contradicts what was said on 2026-03-01)",
            "- We ship green tea in May. (2026-03-01, contradicts what was said on 2026-03-10)",
        ]
        assert len(built.memories) == 2

    def test_or_the_older_is_left_out(self, engine, quarrel, ask):
        options = ContextOptions(contradictions="newer")
        built = ask(engine.build_context("we ship green tea in may", "main", options))
        assert sorted(contents(built.memories)) == ["The ship leaves in June.", "green tea"]
        assert "contradicts" not in built.context
        found = ask(engine.search("we ship green tea in may", "main", SearchOptions(contradictions="newer", limit=1)))
        assert contents(found) == ["The ship leaves in June."]

    @pytest.mark.parametrize("gap", [" ", "  ", "\n", " \u200b"])
    @pytest.mark.parametrize("template", ["chat", "detailed", "summary", "default"])
    def test_no_memory_can_claim_one(self, engine, memories, ask, gap, template):
        words = gap.join(("Contradicts", "what", "was", "said", "on"))
        memories.remember(f"The lamp is green (2026-03-09, {words} 2026-03-01)")
        built = ask(engine.build_context("lamp", "main", ContextOptions(template=template)))
        assert "\\Contradicts" in built.context
        assert ", Contradicts" not in built.context

    def test_a_search_gives_what_it_found_unless_told_otherwise(self, engine, quarrel, ask):
        found = ask(engine.search("we ship green tea in may", "main", SearchOptions(limit=1)))
        assert contents(found) == ["We ship green tea in May."]

    def test_what_is_hidden_or_over_contradicts_nothing(self, engine, memories, quarrel, clock, ask):
        plain = "- We ship green tea in May."
        private = memories.remember("Green tea is never shipped.", user="ben", contradicts=[quarrel[0].id])
        memories.forget(quarrel[1].id)
        for contradictions in ("both", "newer"):
            options = ContextOptions(limit=1, contradictions=contradictions)
            text = ask(engine.build_context("we ship green tea in may", "main", options)).context
            assert text.splitlines()[2] == plain
            assert private.content not in text
        past = ContextOptions(limit=1, as_of=START + DAY)
        assert ask(engine.build_context("we ship green tea in may", "main", past)).context.splitlines()[2] == plain

    def test_two_that_differ_in_one_word_are_no_duplicates(self, engine, memories, clock, ask):
        talk = " ".join(f"plank{n}" for n in range(80))
        for kind, contradicting in (("fact", False), ("decision", True)):
            old = memories.remember(f"green {kind} tea is always shipped {talk}", type=kind)
            clock.forward(days=1)
            new = memories.remember(
                f"green {kind} tea is never shipped {talk}", type=kind, contradicts=[old.id] if contradicting else []
            )
            options = ContextOptions(memory_types=(kind,))
            built = ask(engine.build_context("green tea shipped", "main", options))
            found = ask(engine.search("green tea shipped", "main", options))
            assert {each.memory.id for each in found} == {new.id, old.id}
            assert [each.memory.id for each in built.memories] == [new.id, old.id]
            assert ("contradicts what was said" in built.context) is contradicting

    def test_one_that_is_far_from_the_query_is_brought_in_by_what_it_contradicts(self, engine, memories, ask):
        near = memories.remember("green tea")
        for n in range(15):
            memories.remember(f"green tea {n}")
        far = memories.remember("zebra", contradicts=[near.id])
        memories.remember("violin", contradicts=[memories.remember("cello").id])
        built = ask(engine.build_context("\ngreen tea", "main", ContextOptions(limit=3)))
        assert far.content in contents(built.memories)
        assert len(built.memories) == 4
        assert not {"violin", "cello"} & set(contents(built.memories))

    def test_a_chain_stands_together_newest_first(self, engine, memories, quarrel, clock, ask):
        clock.forward(days=1)
        memories.remember("It never leaves.", contradicts=[quarrel[1].id])
        built = ask(engine.build_context("we ship green tea in may", "main"))
        order = contents(built.memories)
        start = order.index("It never leaves.")
        assert order[start : start + 3] == ["It never leaves.", "The ship leaves in June.", "We ship green tea in May."]

    def test_the_ranks_stay_those_of_the_formula(self, engine, quarrel, ask):
        built = ask(engine.build_context("we ship green tea in may", "main"))
        alone = ask(engine.build_context("we ship green tea in may", "main", ContextOptions(contradictions="newer")))
        ranks = {each.memory.id: each.rank for each in built.memories}
        assert all(ranks[each.memory.id] == pytest.approx(each.rank, abs=1e-6) for each in alone.memories)


class TestErrors:
    @pytest.mark.parametrize(
        "options",
        [
            {"limit": 0}, {"limit": 1.5}, {"limit": 10_000}, {"relationship_depth": 0}, {"relationship_depth": 6},
            {"min_confidence": 1.1}, {"date_from": START, "date_to": START - DAY}, {"contradictions": "older"},
            {"memory_types": "fact"}, {"memory_types": (3,)}, {"as_of": "yesterday"}, {"date_from": "yesterday"},
            {"min_confidence": "high"}, {"conversation_id": 3}, {"token_budget": 0}, {"token_budget": "many"},
            {"memory_types": None}, {"ranker": [1]}, {"ranker": None}, {"ranking": None}, {"template": 5},
            {"ranking": RankingOptions(similarity_weight="much")},  # type: ignore[arg-type]
            {"ranking": RankingOptions(recency_weight=math.nan)},
            {"ranking": RankingOptions(similarity_weight=-1)},
            {"ranking": RankingOptions(similarity_weight=0, recency_weight=0, confidence_weight=0)},
        ],
    )  # fmt: skip
    def test_options_that_cannot_be_met_are_validation_errors(self, engine, fail, options):
        assert fail(engine.build_context("tea", "main", ContextOptions(**options))).type == "validation_error"

    @pytest.mark.parametrize("options", [{"limit": 3}, 3, "tea"])
    def test_options_of_another_kind_are_validation_errors(self, engine, fail, options):
        for call in (engine.search, engine.build_context, engine.preview_context):
            error = fail(call("tea", "main", options))
            assert error.type == "validation_error"
            assert "options must be SearchOptions(...) or ContextOptions(...)" in error.message

    @pytest.mark.parametrize("query", ["", "  ", None, 3])
    def test_a_query_that_is_none_is_a_validation_error(self, engine, fail, query):
        for call in (engine.search, engine.build_context, engine.preview_context):
            assert fail(call(query, "main")).type == "validation_error"

    @pytest.mark.parametrize("vector", [[1.0], [math.nan] * 256, ["a"] * 256, 7, None])
    def test_a_vector_that_is_none_is_a_validation_error(self, engine, fail, vector):
        for call in (engine.search_by_vector, engine.build_context_by_vector):
            assert fail(call(vector, "main")).type == "validation_error"

    def test_absent_workspaces_and_users_are_storage_errors(self, engine, fail):
        assert fail(engine.search("tea", "nowhere")).type == "storage_error"
        assert fail(engine.search("tea", "main", SearchOptions(user="nobody"))).type == "storage_error"

    @pytest.mark.parametrize(
        ("raised", "kind"),
        [
            (EmbeddingError("POST https://api.example/v1 with key sk-123 failed"), "embedding_error"),
            (DimensionError("https://api.example gave vectors of 3 numbers"), "embedding_error"),
            (StoreError("/home/ana/secret.weft: SELECT * FROM nodes is malformed"), "storage_error"),
            (RuntimeError("at /usr/lib/python/x.py, line 3: sk-123"), "embedding_error"),
        ],
    )
    def test_failures_are_told_by_kind_and_give_nothing_away_but_in_the_log(
        self, weft, memories, caplog, fail, raised, kind
    ):
        class Failing(HashingEmbedder):
            def embed_batch(self, texts):
                raise raised

            def embed(self, text):
                raise raised

        memories.remember("green tea")
        engine = ContextEngine(
            ContextEngineConfig(storage_client=weft, embedding_provider=Failing(weft.tools.embedder.dimensions))
        )
        with caplog.at_level(logging.ERROR, "weftwork.memory"):
            error = fail(engine.build_context("my question", "main"))
        assert error.type == kind
        assert error.cause == ("EmbeddingError" if isinstance(raised, RuntimeError) else type(raised).__name__)
        for secret in ("sk-123", "/home", "SELECT", "https", "/usr", "Traceback"):
            assert secret not in str(error)
        assert "my question" in caplog.text and "main" in caplog.text

    def test_what_nobody_foresaw_is_a_search_error(self, weft, engine, memories, fail, monkeypatch):
        memories.remember("green tea")
        monkeypatch.setattr(weft.store, "view", lambda *_: 1 / 0)
        assert fail(engine.search("tea", "main")).type == "search_error"

    def test_a_closed_store_is_a_storage_error_without_its_path(self, tmp_path, fail):
        weft = Weft.open(tmp_path / "closed.weft", embedder="hashing")
        engine = ContextEngine(ContextEngineConfig(storage_client=weft))
        weft.close()
        error = fail(engine.search("tea", "main"))
        assert error.type == "storage_error"
        assert str(tmp_path) not in str(error)

    def test_many_at_once_get_what_one_alone_gets(self, engine, three):
        async def together():
            return await asyncio.gather(*(engine.build_context("green tea", "main") for _ in range(20)))

        answers = asyncio.run(together())
        assert all(answer == answers[0] for answer in answers)


class TestTrace:
    def test_each_memory_that_is_left_out_has_its_reason(self, weft, memories, clock):
        old = memories.remember("green tea in May")
        clock.forward(days=1)
        memories.remember("green tea in June", contradicts=[old.id])
        memories.remember("green tea for all")
        memories.remember("Green tea, for all!")
        memories.remember("black coffee and green beans")
        memories.remember("a green zebra", contradicts=[memories.remember("a violin").id])

        def drop_first(results, options):
            return results[1:]

        ranking = Ranking(function=drop_first)
        context = weft.context("green tea", recipe=recipe_for(Plan(3, 0, "newer", ranking)))
        reasons = {decision.reason.split("[")[0] for decision in context.trace if decision.fate == "dropped"}
        assert reasons == {"beyond the limit of 3", "contradicted by ", "left out by the ranker", "a repeat of "}
        assert len({decision.citation for decision in context.trace}) == len(context.trace)
