"""The rendered text never counts more than the budget: for any content, any request, any budget from 1 token up."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
import splintr
from hypothesis import given, settings
from tests.depth import DEEP, some
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from weftwork import Budget, Message, Node, Recipe, Template, Weft
from weftwork.compose.compose import SURROUNDINGS
from weftwork.embed.hashing import HashingEmbedder
from weftwork.pack import PACKERS
from weftwork.recipe import EVERYTHING, SECTION_BUDGETS
from weftwork.render import Templates
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import get_counter
from weftwork.text.truncate import STRATEGIES
from weftwork.tools import Tools

from .content import sessions

USER = "ana"
EMBEDDER = HashingEmbedder(64)
LENGTH = 1_000_000 if DEEP else 150_000
WORKSPACES = (f"workspace {number}" for number in itertools.count())
TOKENIZERS = ("o200k_base", "cl100k_base", "characters", "trained")


@pytest.fixture(scope="module")
def store(folder):
    with_clock = SqliteStore(folder / "budget.weft", clock=lambda: NOW)
    yield with_clock
    with_clock.close()


@pytest.fixture(scope="module")
def trained(folder):
    """A tokenizer of one's own, which rewrites what it reads and knows special tokens by their names."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["<s>", "</s>", "[UNK]", "<|endoftext|>"])
    tokenizer.train_from_iterator(["the harbour lantern opens at six == == ## 漢字 " * 3], trainer)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="module", params=TOKENIZERS)
def counting(request, trained):
    """A counter by its name, and the tokenizer's own count."""
    match request.param:
        case "characters":
            return get_counter("characters"), lambda text: -(-len(text) // 4)
        case "trained":
            own = Tokenizer.from_file(str(trained))
            return get_counter(str(trained)), lambda text: len(own.encode(text, add_special_tokens=False).ids)
        case name:
            vocabulary = splintr.Tokenizer.from_pretrained(name)
            return get_counter(name), lambda text: len(vocabulary.encode_ordinary(text))


class Witness:
    """A collector that remembers what it found."""

    def __init__(self, collector):
        self.collector = collector
        self.name, self.section = collector.name, collector.section
        self.seen = set()

    def collect(self, inquiry):
        found = self.collector.collect(inquiry)
        records = inquiry.view.load([each.key for each in found if each.record is None])
        records += [each.record for each in found if each.record is not None]
        self.seen = {(record.node.id, record.passage.citation) for record in records}
        return found


def check_account(context, found):
    """Each candidate has one decision, and the decisions agree with what stands in the text."""
    around = {(each.node, each.citation) for each in context.trace if each.findings[0].collector == SURROUNDINGS}
    assert Counter((each.node, each.citation) for each in context.trace) == Counter(found | around)
    shown = {
        (item.candidate.node.id, item.candidate.passage.citation): (
            "line" if excerpt.form == "line" else "truncated" if item.truncated else "included"
        )
        for excerpt in (*context.excerpts, *context.overflow)
        for item in excerpt.items
    }
    assert len(shown) == len(context.items) + sum(len(excerpt.items) for excerpt in context.overflow)
    fates = {(each.node, each.citation): each.fate for each in context.trace}
    told = {key: fate for key, fate in fates.items() if fate != "dropped"}
    assert {key: fate for key, fate in told.items() if key in shown} == shown
    # A document that is named by a line stands for all that was found in it.
    assert {fate for key, fate in told.items() if key not in shown} <= {"line"}
    assert {each.id for each in context.citations} == {citation for _, citation in shown}
    assert all(each.reason for each in context.trace)
    assert all(each.missing_tokens is None or each.missing_tokens > 0 for each in context.trace)


def check_sections(context, budget, counted):
    """Sections add up to their excerpts, and a hard cap is not passed."""
    used = Counter()
    for section in context.sections:
        assert section.excerpts
        assert section.tokens == sum(excerpt.tokens for excerpt in section.excerpts)
        used[section.name] += section.tokens
    for excerpt in (*context.excerpts, *context.overflow):
        assert excerpt.tokens == counted(excerpt.text)
    for excerpt in context.overflow:
        used[excerpt.section] += excerpt.tokens
    for name, cap in budget.sections.items():
        assert budget.share or used[name] <= cap
        assert cap or not used[name]


def check_text(context, separators):
    """What is included stands in the text."""
    assert context.text.encode()
    for excerpt in (*context.excerpts, *context.overflow):
        assert any(excerpt.text.removesuffix(separator) in context.text for separator in separators)


def check(weft, counted, workspace, **options):
    """Everything that holds for any context."""
    budget = options["budget"]
    recipe = replace(options.pop("recipe"), collectors=tuple(map(Witness, EVERYTHING)))
    context = weft.context(user=USER, workspace=workspace, recipe=recipe, **options)
    assert context.tokens == counted(context.text)
    assert context.tokens <= context.budget == budget.total
    check_account(context, set().union(*(witness.seen for witness in recipe.collectors)))
    check_sections(context, budget, counted)
    templates = weft.tools.templates
    if context.text:
        check_text(context, [templates.get(name).separator for name in (recipe.template, "plain")])
    return context


@settings(max_examples=some(100, part=6))
@given(session=sessions())
def test_no_text_counts_more_than_its_budget(store, counting, session):
    counter, counted = counting
    tools = Tools(counter, EMBEDDER, Templates([session.hostile]), session.summarise)
    weft = Weft(store, tools, clock=lambda: NOW)
    workspace = next(WORKSPACES)
    weft.create_workspace(workspace, owner=USER)
    weft.add(session.nodes, workspace=workspace)
    for options in session.requests:
        check(weft, counted, workspace, **options)
    store.drop_workspace(workspace)


LINES = {
    "letters": "a" * LENGTH,
    "ideographs": "漢" * (LENGTH // 3),
    "spaces": " " * LENGTH,
    "line breaks": "\n" * LENGTH,
    "emoji": "👩‍👩‍👧" * (LENGTH // 18),
    "special tokens": "<|endoftext|>" * (LENGTH // 13),
    "backticks": "`" * LENGTH,
    "words": "harbour lantern. " * (LENGTH // 17),
}


@pytest.fixture
def vast(tmp_path):
    with Weft.open(tmp_path / "vast.weft", embedder=EMBEDDER, clock=lambda: NOW) as weft:
        weft.add_user(USER)
        yield weft


@pytest.mark.parametrize("content", LINES)
def test_a_very_long_line_fits_wherever_it_stands(vast, content):
    line = LINES[content]
    vast.add(
        [
            Node(id="text", title="Text", text=line),
            Node(id="head", title=line, tags=(line,), fields={line: line}, source=line),
        ]
    )
    counted = splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary
    numbered = list(zip(itertools.cycle(PACKERS), itertools.cycle(STRATEGIES), range(8), strict=False))
    for packer, truncation, number in numbered if DEEP else numbered[list(LINES).index(content) % 4 :: 4]:
        shown = check(
            vast,
            lambda text: len(counted(text)),
            "main",
            query=line if number == 7 else "harbour",
            budget=Budget(total=(1, 60, 700, 20_000)[number % 4], sections=SECTION_BUDGETS, share=number % 3 > 0),
            recipe=Recipe(
                name="vast",
                collectors=EVERYTHING,
                profile=PROFILES["balanced"],
                packer=packer,
                template=sorted(BUILTIN)[number % len(BUILTIN)],
                lines=number % 2 == 0,
            ),
            focus=("text", "head")[number % 2],
            history=(Message("user", line),) if number in (2, 3) else (),
            truncation=truncation,
        )
        assert shown.trace


@pytest.fixture(scope="module")
def contrary(folder):
    """A tokenizer to which `abcd` is one token, and each of several in a row is three."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("d", "a"), ("a", "b"), ("c", "d"), ("ab", "cd")]
    vocabulary = {token: number for number, token in enumerate([*letters, *map("".join, merges)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    path = folder / "contrary.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize("packer", PACKERS)
def test_a_text_that_counts_more_than_its_pieces_keeps_the_budget(store, contrary, packer):
    own = Tokenizer.from_file(str(contrary))

    def counted(text):
        return len(own.encode(text, add_special_tokens=False).ids)

    assert counted("abcd") == 1
    assert counted("abcd" * 8) > 3 * 7
    template = Template(
        name="run-on", section="", item="abcd", separator="", line="abcd", overflow="abcd", quote="escape"
    )
    weft = Weft(store, Tools(get_counter(str(contrary)), None, Templates([template])), clock=lambda: NOW)
    workspace = next(WORKSPACES)
    weft.create_workspace(workspace, owner=USER)
    kinds = itertools.cycle(["page", "todo", "file"])
    weft.add([Node(id=f"n{n}", type=next(kinds), text=f"harbour {n}") for n in range(30)], workspace=workspace)
    recipe = Recipe(
        name="run-on", collectors=EVERYTHING, profile=PROFILES["balanced"], packer=packer, template="run-on", lines=True
    )
    shown = [
        check(weft, counted, workspace, query="harbour", budget=Budget(total=total), recipe=recipe).items
        for total in (*range(1, 70), 1000)
    ]
    assert any(shown[:-1])
    assert len(shown[-1]) > 9
    store.drop_workspace(workspace)


@pytest.mark.parametrize("packer", ["ranked", "greedy", "optimal", "overflow"])
@pytest.mark.parametrize("template", sorted(BUILTIN))
def test_everything_is_shown_where_there_is_room_and_less_where_one_token_is_missing(vast, template, packer):
    vast.add([Node(id=f"n{n}", title=f"Lantern {n}", text=f"harbour lantern {n} " * (n + 1)) for n in range(6)])
    recipe = Recipe(name="roomy", collectors=EVERYTHING, profile=PROFILES["balanced"], packer=packer, template=template)
    whole = vast.context("harbour", user=USER, recipe=recipe, budget=5000)
    fate = "included"
    assert [each.fate for each in whole.trace] == [fate] * 6
    less = vast.context("harbour", user=USER, recipe=recipe, budget=whole.tokens - 1)
    assert 0 < less.tokens < whole.tokens
    assert less.text != whole.text
