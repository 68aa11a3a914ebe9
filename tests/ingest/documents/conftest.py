import pytest

from weftwork.ingest.documents.formats import extension_of, missing_packages, parse
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.values import Limits, Tools

if missing_packages():
    pytest.skip("documents are not read here: run  pip install 'weftwork[documents]'", allow_module_level=True)


@pytest.fixture
def pages(tmp_path):
    """The pages of a document, parsed in this process."""

    def read(content, extension="pdf", ocr=None, **limits):
        path = tmp_path / f"document.{extension}"
        path.write_bytes(content)
        parsed = parse(path, extension_of(path), Tools(Limits(**limits), ocr))
        parsed_pages = list(parsed.pages)
        assert len(parsed_pages) == parsed.count
        return parsed_pages

    return read


@pytest.fixture
def parser():
    """The process that parses, with limits that a test can wait for."""
    with Parser(Limits(seconds=60)) as opened:
        yield opened


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return written
