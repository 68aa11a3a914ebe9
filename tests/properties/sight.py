"""Everything that a user can get out of a store without asking for a context."""

from weftwork import Filters
from weftwork.embed.hashing import HashingEmbedder
from weftwork.store.contract.kit import NOW

from .world import COMMON, ROOT, SIZE, World, marker, name

EMBEDDER = HashingEmbedder(64)
NAMES = [name(number) for number in range(SIZE)]
NO_CITATION = "k000000"
SEARCHED = ("title", "text", "tag", "field", "value")
"""Where a search by words looks."""
MODES = ("hybrid", "words", "vector")


class Inventory:
    """The numbers, hashes and citations under which the store keeps the nodes, read by the user with all rights."""

    def __init__(self, world: World) -> None:
        with world.weft.store.view(world.workspace, ROOT) as view:
            assert {node.id for node in view.nodes(NAMES)} == {name(number) for number in world.specs}
            records = view.load([key for keys in view.passages(NAMES).values() for key in keys])
        self.passages = {record.node.id: record.passage for record in records}
        self.keys = [passage.key for passage in self.passages.values()]
        self.digests = [passage.digest for passage in self.passages.values()]

    def citation(self, node: str) -> str:
        """A node's citation id; for one that is not there, what such an id looks like."""
        return self.passages[node].citation if node in self.passages else NO_CITATION


def about(view, node, citation=NO_CITATION):
    """Everything that a view says when it is asked about one node."""
    return (
        view.nodes([node]),
        view.passages([node]),
        view.cited([citation]),
        view.ancestors(node, 5),
        view.siblings(node, 3),
        view.children(node, 5),
        view.children(node, 1, last=True),
        view.neighbours(node),
        view.walk([node], depth=3, hub_limit=2),
        view.walk([node], depth=3, hub_limit=2, first=("field", "child")),
        view.walk([node], depth=3, hub_limit=2, vector=EMBEDDER.embed(COMMON), model=EMBEDDER.model),
        view.tree_distance(node, [other for other in NAMES if other != node]),
        view.usage([node]),
        view.find(node),
    )


def overall(view, inventory):
    """Everything that a view says without being asked about a node in particular, but the numbers of versions."""
    vector = EMBEDDER.embed(COMMON)
    return (
        view.load(inventory.keys),
        view.select(Filters(), limit=50),
        view.select(Filters(tags=frozenset({"shared"})), limit=50, sort="title"),
        view.past(("due",), NOW, limit=50),
        view.search_words(COMMON, limit=50),
        view.search_fuzzy("lanterm", limit=50),
        view.search_vector(vector, model=EMBEDDER.model, limit=50, threshold=-1.0),
        view.similarities(vector, inventory.keys, model=EMBEDDER.model),
        {digest: found.tobytes() for digest, found in view.vectors(inventory.digests, model=EMBEDDER.model).items()},
        view.idf(COMMON.split()),
        view.events("view", limit=50),
        view.events("edit", limit=50),
        view.usage(NAMES),
        view.votes(50),
        [(change.node, change.deleted) for change in view.changes(0)],
        view.counts(),
        [view.find(marker("title", number)) for number in range(SIZE)],
        [view.find(f"notes/{marker('source', number)}.md") for number in range(SIZE)],
    )


def searches(world, user):
    """The answers to searches for what all nodes share, in every mode, and for a word of each node."""
    where = {"user": user, "workspace": world.workspace, "limit": SIZE}
    common = [world.weft.search(COMMON, mode=mode, **where) for mode in MODES]
    marked = [
        world.weft.search(marker(SEARCHED[number % 5], number), mode=MODES[number % 2], **where)
        for number in range(SIZE)
    ]
    return common, marked
