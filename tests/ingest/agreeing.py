"""The content of a store that came from a folder, without ids, to compare two stores."""

import os


def held(weft, root):
    """Nodes by their place in the tree, edges between places, and the words that are found."""
    top = f"folder:{os.path.basename(root)}"
    places, nodes = {}, {}
    with weft.store.view("main", "me") as view:
        waiting: list[tuple[str, tuple]] = [(top, ())]
        while waiting:
            name, place = waiting.pop()
            (node,) = view.nodes([name])
            here = (*place, (node.type, node.title if node.type in ("page", "file", "folder") else "", node.position))
            places[name] = here
            fields = {key: value for key, value in node.fields.items() if not key.startswith("_folder")}
            nodes[here] = (node.title, node.text, sorted(node.tags), fields, os.path.relpath(node.source, root))
            waiting += [(child.id, here) for child in view.children(name, 10_000)]
        assert len(places) == len(nodes)
        assert view.counts()["nodes"] == len(nodes)
        edges = {
            (places[edge.source], places[edge.target], edge.type, edge.label, edge.weight)
            for name in places
            for edge, _ in view.neighbours(name, direction="out", limit=10_000)
        }
    return nodes, edges
