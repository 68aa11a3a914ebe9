"""Documents to ask about: made like those that are read from files, page by page."""

from weftwork import Node, Weft
from weftwork.faces.research import SourceDocument
from weftwork.text.tokens import CharacterCounter

CRISIS = {
    1: "# The crisis of 2008\n\nA report on the financial crisis and its causes.",
    2: "## Mortgages\n\nSubprime mortgages were sold to borrowers with poor credit histories. Banks took on leverage.",
    3: "## Lehman\n\nThe collapse of Lehman Brothers in September 2008 triggered a global financial panic.",
}
ENERGY = {
    1: "# Renewable energy\n\nSolar and wind power reduce carbon dioxide emissions.",
    2: "| Year | Turbines |\n| --- | --- |\n| 2021 | 340 |\n| 2022 | 410 |\n\nFigure 2: turbines installed per year",
}


def document(name, pages, *, access=None, doc_id=None, **more):
    """The nodes of a document, as the reader of files makes them."""
    doc_id = doc_id or name.rpartition(".")[0]
    known = {"filename": name, "extension": name.rpartition(".")[2], "timestamp": "2026-03-16T09:00:00+00:00"}
    yield Node(id=doc_id, type="document", title=name, source=f"/docs/{name}", fields=known, access=access)
    for number, text in pages.items():
        heading = next((line.strip("# ") for line in text.splitlines() if line.startswith("#")), "")
        fields = {
            **known, "page": number, "headings": text.count("#") > 0, "tables": int("| ---" in text), "pictures": 0,
            "image_path": f"notes.weft.files/1/ab/1/page-{number:04}.jpg",
            "thumbnail_path": f"notes.weft.files/1/ab/1/thumb-{number:04}.jpg",
        }  # fmt: skip
        if heading:
            fields |= {"section_path": f"Report > {heading}", "parent_heading": heading}
        yield Node(
            id=f"{doc_id}#page={number}", type="document_page", title=f"{name}, page {number}", text=text,
            source=f"/docs/{name}", parent=doc_id, position=number, fields=fields, **more,
        )  # fmt: skip


def library(folder, **options):
    """A store with two documents."""
    weft = Weft.open(folder / "library.weft", **options)
    weft.add([*document("crisis.pdf", CRISIS), *document("energy.pdf", ENERGY)])
    return weft


def source(number, text="words", **more):
    return SourceDocument(**{"doc_id": f"d{number}", "filename": f"f{number}.pdf", "page": number, "extension": "pdf",
                             "markdown_content": text, **more})  # fmt: skip


class Fixed:
    """A search engine that gives what it was made with, and remembers how it was asked."""

    def __init__(self, results):
        self.results = results
        self.asked = []

    async def search(self, query, num_results=10, search_mode="hybrid"):
        self.asked.append((query, num_results, search_mode))
        return self.results


class Shelf:
    """A source of pages in the contract's own terms: metadata by condition, text by document."""

    def __init__(self, documents):
        self.documents = documents
        self.read = []

    @property
    def visual_collection(self):
        return self

    def get(self, *, where, include):
        wanted = {name: value["$eq"] for part in where["$and"] for name, value in part.items()}
        assert include == ["metadatas"]
        pages = self.documents.get(wanted["doc_id"], {})
        if wanted["page"] not in pages:
            return {"ids": [], "metadatas": []}
        known = {"filename": f"{wanted['doc_id']}.pdf", "extension": "pdf", "timestamp": "2026-01-01", **wanted}
        return {"ids": ["x"], "metadatas": [known | {"thumb_path": "t.jpg", "image_path": "i.jpg"}]}

    async def get_document_markdown(self, doc_id):
        self.read.append(doc_id)
        pages = self.documents.get(doc_id)
        return pages and "\n\n".join(f"<!-- page {number} -->\n{text}" for number, text in pages.items())


COUNTER = CharacterCounter()
