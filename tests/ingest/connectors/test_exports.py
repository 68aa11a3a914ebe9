import io
import json
import os
import stat
import tracemalloc
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors import exports
from weftwork.ingest.connectors.exports import open_export
from weftwork.ingest.connectors.jsonstream import Damaged, items
from weftwork.ingest.connectors.notion import Notion
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.events import Refused

PAGE = "A page 152bb52ee2b580179846fd78b2b60ea9.md"


def packed(files):
    data = io.BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


class TestZips:
    def test_a_member_that_climbs_out_is_reported_and_the_rest_is_read(self, tmp_path):
        path = tmp_path / "export.zip"
        names = ("../up.md", "/etc/up.md", "a/../../up.md", "C:\\up.md", "..\\up.md")
        path.write_bytes(packed({**dict.fromkeys(names, "# Out"), PAGE: "# In"}))
        reading = read(Notion(), path)
        assert [node.title for node in reading.of("page")] == ["In"]
        assert len(reading.skipped) == len(names)
        assert all("climb out" in skipped.why for skipped in reading.skipped)
        assert os.listdir(tmp_path) == ["export.zip"]

    def test_a_zip_that_bursts_is_refused_as_a_whole(self, tmp_path, monkeypatch):
        monkeypatch.setattr(exports, "HARMLESS", 1_000_000)
        path = tmp_path / "export.zip"
        path.write_bytes(packed({PAGE: "# In", "zeros.bin": b"\0" * 2_000_000}))
        reading = read(Notion(), path)
        assert (reading.nodes, reading.sources) == ([], [])
        assert "burst" in reading.unread[0].why
        assert reading.unread[0].key == ""

    def test_the_files_and_bytes_of_a_zip_are_bounded(self, tmp_path, monkeypatch):
        path = tmp_path / "export.zip"
        path.write_bytes(packed({f"{n}.md": "x" * 100 for n in range(20)}))
        monkeypatch.setattr(exports, "MOST_FILES", 10)
        with pytest.raises(Refused, match="20 files"):
            open_export(path)
        monkeypatch.setattr(exports, "MOST_FILES", 100)
        monkeypatch.setattr(exports, "MOST_BYTES", 1000)
        with pytest.raises(Refused, match="unpacked"):
            open_export(path)

    def test_a_zip_in_a_zip_is_read_and_one_deeper_is_not(self, tmp_path):
        path = tmp_path / "export.zip"
        deep = packed({"deep.md": "deep"})
        path.write_bytes(packed({"part.zip": packed({PAGE: "# In", "deep.zip": deep})}))
        export = open_export(path)
        assert [entry.name for entry in export.files] == [PAGE]
        assert "2 deep" in export.skipped[0].why

    def test_a_zip_inside_that_bursts_takes_all_with_it(self, tmp_path, monkeypatch):
        monkeypatch.setattr(exports, "HARMLESS", 1_000_000)
        path = tmp_path / "export.zip"
        bomb = packed({"zeros.bin": b"\0" * 2_000_000})
        path.write_bytes(packed({PAGE: "# In", "part.zip": bomb}))
        with pytest.raises(Refused, match="burst"):
            open_export(path)

    def test_links_and_locked_members_are_left_out(self, tmp_path):
        path = tmp_path / "export.zip"
        link = ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with ZipFile(path, "w") as archive:
            archive.writestr(link, "/etc/passwd")
            archive.writestr(PAGE, "# In")
        export = open_export(path)
        assert [entry.name for entry in export.files] == [PAGE]
        assert "link" in export.skipped[0].why

    def test_a_damaged_zip_keeps_what_is_stored(self, tmp_path):
        path = tmp_path / "export.zip"
        path.write_bytes(packed({PAGE: "# In"})[:-30])
        reading = read(Notion(), path)
        assert reading.sources == []
        assert (reading.unread[0].key, "damaged" in reading.unread[0].why) == ("", True)
        assert recognise(path).name == "files"

    def test_a_member_whose_bytes_are_damaged_is_reported_alone(self, tmp_path):
        path = tmp_path / "export.zip"
        other = PAGE.replace("A page 1", "B page 2")
        data = packed({PAGE: "# In " + "words " * 50, other: "# Other"})
        place = data.index(PAGE.encode()) + len(PAGE) + 5
        path.write_bytes(data[:place] + b"\xff\xff\xff" + data[place + 3 :])
        reading = read(Notion(), path)
        assert [node.title for node in reading.of("page")] == ["Other"]
        assert "damaged" in reading.skipped[0].why


class TestJson:
    def test_items_come_one_by_one_and_the_file_is_never_held(self, tmp_path):
        path = tmp_path / "many.json"
        with path.open("w") as file:
            file.write("[")
            file.write(",".join(json.dumps({"n": n, "text": "x" * 400}) for n in range(12_000)))
            file.write("]")
        tracemalloc.start()
        with path.open() as file:
            assert sum(item.value["n"] for item in items(file)) == sum(range(12_000))
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 2
        tracemalloc.stop()

    def test_what_stands_before_the_damage_is_read(self):
        read_items = []
        with pytest.raises(Damaged):
            read_items.extend(item.value for item in items(io.StringIO('[1, {"a": [2]}, "three", {"a": ')))
        text = io.StringIO('[1, {"a": [2]}, "three", {"a": ')
        stream = items(text)
        assert [next(stream).value for _ in range(3)] == [1, {"a": [2]}, "three"]

    def test_the_array_at_a_key_is_found_wherever_it_stands(self):
        text = io.StringIO('\ufeff{"a": {"docs": [0]}, "b": 12, "docs": [1, 2]}'.lstrip("\ufeff"))
        assert [item.value for item in items(text, "docs")] == [1, 2]
        with pytest.raises(Damaged, match="no 'docs'"):
            list(items(io.StringIO('{"a": 1}'), "docs"))

    @pytest.mark.parametrize("text", ["", "{}", "[1 2]", "[1,]", "[" * 100_000, "[nul]", '["\\ud8"]'])
    def test_what_is_no_array_is_damaged(self, text):
        with pytest.raises(Damaged):
            list(items(io.StringIO(text)))

    @settings(max_examples=30, deadline=None)
    @given(
        values=st.lists(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)),
        chunk=st.integers(1, 7),
        indent=st.sampled_from([None, 2]),
    )
    def test_it_reads_what_json_reads_however_the_text_is_cut(self, values, chunk, indent):
        text = json.dumps(values, indent=indent)
        read_items = list(items(Slow(text, chunk)))
        assert [item.value for item in read_items] == values
        assert [json.loads(item.text) for item in read_items] == values


class Slow(io.StringIO):
    """A file that hands out little at a time."""

    def __init__(self, text, chunk):
        super().__init__(text)
        self.chunk = chunk

    def read(self, size=-1):
        return super().read(self.chunk)


class TestFolders:
    def test_loops_and_names_that_are_no_text_are_contained(self, tmp_path):
        top = tmp_path / "export"
        (top / "inner").mkdir(parents=True)
        (top / PAGE).write_text("# In")
        (top / "inner" / "loop").symlink_to(top)
        (top / "self.md").symlink_to(top / "self.md")
        odd = os.fsencode(top) + b"/\xff\xfe 252bb52ee2b580179846fd78b2b60ea9.md"
        with open(odd, "w") as file:
            file.write("# Odd")
        os.mkfifo(top / "pipe.md")
        reading = read(Notion(), top)
        assert sorted(node.title for node in reading.of("page")) == ["In", "Odd"]
        reasons = {notice.what.rpartition(" ")[2]: notice.why for notice in (*reading.skipped, *reading.unread)}
        assert "regular" in reasons["pipe.md"]
        assert "cannot be read" in reasons["self.md"]

    def test_links_out_of_the_export_are_not_followed(self, tmp_path):
        (tmp_path / "secret.md").write_text("# Secret")
        top = tmp_path / "export"
        top.mkdir()
        (top / PAGE).write_text("# In")
        (top / "Out 252bb52ee2b580179846fd78b2b60ea9.md").symlink_to(tmp_path / "secret.md")
        (top / "up").symlink_to(tmp_path)
        reading = read(Notion(), top)
        assert [node.title for node in reading.of("page")] == ["In"]
        assert any("leads out" in notice.why for notice in reading.skipped)
