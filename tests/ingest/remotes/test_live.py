import os
import subprocess

import pytest
from tests.ingest.connectors.reading import read

from weftwork.errors import AccessDenied, InvalidInput, NotFound, RemoteError
from weftwork.ingest.connectors.calendar import Calendar
from weftwork.ingest.live import pull, pulled_before
from weftwork.ingest.remotes.feed import Feed
from weftwork.ingest.remotes.protocol import Mirror, file_name
from weftwork.ingest.remotes.registry import parse_address
from weftwork.ingest.report import Options

from .servers import Web, bucket, github, imap, notion, webdav

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Harbour news</title>{items}</channel></rss>"""
ITEM = (
    "<item><title>{title}</title><link>https://harbour.example/{id}</link><guid>{id}</guid>"
    "<pubDate>Mon, 02 Mar 2026 09:00:00 +0000</pubDate><category>ferries</category>"
    "<content:encoded><![CDATA[<p>{body}</p>]]></content:encoded></item>"
)
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><title>Quay</title>
<entry><id>q1</id><title>Ropes</title><link rel="alternate" href="https://quay.example/1"/>
<updated>2026-03-01T10:00:00Z</updated><author><name>Ann</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Splice <b>two</b> ropes.</p></div>
</content></entry>{deleted}</feed>"""


def nodes_seen(weft, user):
    """The number of nodes that another user sees."""
    weft.add_user(user)
    return weft.stats(user=user)["nodes"]


@pytest.fixture
def served():
    opened = []

    def keep(server):
        opened.append(server)
        return server

    yield keep
    for server in opened:
        server.close()


def test_a_feed_is_read_once_and_older_entries_stay(weft, tmp_path, served):
    items = {
        "a": ITEM.format(id="a", title="Ferry late", body="It is late."),
        "b": ITEM.format(id="b", title="Pier", body="New."),
    }

    def answer(_method, _path, headers, _body):
        content = RSS.format(items="".join(items.values())).encode()
        tag = f'"{hash(content)}"'
        return (304, {}, b"") if headers.get("If-None-Match") == tag else (200, {"ETag": tag}, content)

    web = served(Web(answer))
    first = pull(weft, f"{web.url}/feed.xml", tmp_path)
    assert (first.fetched, first.public, first.report.connector) == (2, True, "markdown")
    page = weft.search("late ferry")[0].node
    assert (page.title, page.source) == ("Ferry late", "https://harbour.example/a")
    assert page.fields["created"].startswith("2026-03-02")
    assert page.tags == ("ferries",)
    assert pull(weft, f"{web.url}/feed.xml", tmp_path).report.unchanged == 3
    del items["a"]
    items["b"] = ITEM.format(id="b", title="Pier", body="Closed on Sundays.")
    items["c"] = ITEM.format(id="c", title="Crane", body="It lifts.")
    again = pull(weft, f"{web.url}/feed.xml", tmp_path)
    assert (again.fetched, again.report.changed, again.report.added, again.report.removed) == (2, 1, 1, 0)
    assert weft.search("Sundays")[0].node.title == "Pier"
    assert weft.search("late ferry")[0].node.title == "Ferry late"
    assert pulled_before(tmp_path) == [f"{web.url}/feed.xml"]


def test_an_entry_goes_when_its_atom_feed_says_so(weft, tmp_path, served):
    deleted = []
    web = served(Web(lambda *_: (200, {}, ATOM.format(deleted="".join(deleted)).encode())))
    pull(weft, f"feed+{web.url}/atom", tmp_path)
    node = weft.search("splice ropes")[0].node
    assert (node.title, node.fields["author"], node.source) == ("Ropes", "Ann", "https://quay.example/1")
    web.close()
    gone = ATOM.replace(ATOM[ATOM.index("<entry>") : ATOM.index("{deleted}")], "")
    web2 = served(Web(lambda *_: (200, {}, gone.format(deleted='<at:deleted-entry ref="q1"/>').encode())))
    mirror = next(tmp_path.glob("*/*"))
    opened = Mirror.open(mirror)
    Feed(parse_address(f"feed+{web2.url}/atom")).pull(opened)
    assert (opened.removed, list(mirror.glob("*.md"))) == (1, [])


def test_a_repository_gives_its_files_at_a_commit_and_its_history(weft, tmp_path):
    repository = tmp_path / "boats"
    repository.mkdir()

    def git(*arguments, day="2026-03-01"):
        names = {f"GIT_{who}_{what}": f"ann{'@example.org' * (what == 'EMAIL')}" for who in ("AUTHOR", "COMMITTER")
                 for what in ("NAME", "EMAIL")}  # fmt: skip
        dates = {f"GIT_{who}_DATE": f"{day}T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **names, **dates}
        subprocess.run(["git", *arguments], cwd=repository, env=environment, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    (repository / "Sails.md").write_text("# Sails\n\nCanvas is heavy.")
    (repository / "Ropes.md").write_text("# Ropes\n\nHemp.")
    git("add", ".")
    git("commit", "-m", "Describe sails and ropes")
    address = f"git+file://{repository}"
    first = pull(weft, address, tmp_path / "copies")
    assert (first.fetched, first.public) == (3, False)
    node = weft.search("canvas")[0].node
    assert (node.source, node.updated_at.date().isoformat()) == (f"{address}/Sails.md", "2026-03-01")
    assert "2026-03-01, ann: Describe sails and ropes" in weft.search("who described sails")[0].passage.text
    (repository / "Sails.md").write_text("# Sails\n\nDacron is light.")
    (repository / "Ropes.md").unlink()
    git("add", "-A")
    git("commit", "-m", "Buy new sails", day="2026-03-05")
    second = pull(weft, address, tmp_path / "copies")
    assert (second.report.changed, second.report.removed) == (2, 1)
    assert weft.search("dacron")[0].node.updated_at.date().isoformat() == "2026-03-05"
    assert pull(weft, address, tmp_path / "copies").fetched == 0
    with pytest.raises(RemoteError, match="git cannot read"):
        pull(weft, f"git+file://{tmp_path}/nothing", tmp_path / "copies")


def letter(number, subject, body):
    return (
        f"From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: {subject}\r\n"
        f"Message-ID: <{number}@example.org>\r\n"
        f"Date: Mon, 2 Mar 2026 09:0{number}:00 +0000\r\n\r\n{body}\r\n"
    ).encode()


def test_a_mailbox_is_fetched_once_and_what_is_expunged_goes(weft, tmp_path):
    messages = {7: letter(7, "Ropes", "We need hemp."), 9: letter(9, "Sails", "We need canvas.")}
    state = {"validity": 1}
    with imap(messages, password="secret", state=state) as (address, fetched):
        first = pull(weft, address, tmp_path, key="secret")
        assert (first.public, fetched) == (False, [7, 9])
        assert weft.search("hemp")[0].node.title == "Ropes" or "hemp" in weft.search("hemp")[0].passage.text
        assert nodes_seen(weft, "eve") == 0  # mail is private
        del messages[7]
        messages[11] = letter(1, "Oars", "We need ash.")
        second = pull(weft, address, tmp_path, key="secret")
        assert (fetched, second.fetched, second.removed) == ([7, 9, 11], 1, 1)
        assert all("hemp" not in hit.passage.text for hit in weft.search("hemp"))
        state["validity"] = 2  # the server numbers its messages anew
        pull(weft, address, tmp_path, key="secret")
        assert fetched == [7, 9, 11, 9, 11]
        with pytest.raises(AccessDenied, match="refuses 'ann'"):
            pull(weft, address, tmp_path, key="wrong")
        with pytest.raises(NotFound, match="no mailbox"):
            pull(weft, address.replace("INBOX", "Other"), tmp_path, key="secret")
    with pytest.raises(RemoteError, match="cannot be reached"):
        pull(weft, address, tmp_path, key="secret")
    assert weft.search("canvas")  # what was read stays


def test_files_of_a_webdav_folder_come_and_go(weft, tmp_path, served):
    files = {"Ropes.md": b"# Ropes\n\nHemp.", "old/Sails v1.md": b"# Sails\n\nCanvas."}
    web = served(webdav(files, password="secret"))
    address = f"webdav+{web.url.replace('http://', 'http://ann@')}/files"
    first = pull(weft, address, tmp_path, key="secret")
    assert (first.fetched, first.public) == (2, False)
    assert weft.search("canvas")[0].node.source == f"{web.url}/files/old/Sails%20v1.md"
    files["Ropes.md"] = b"# Ropes\n\nNylon."
    del files["old/Sails v1.md"]
    web.asked.clear()
    second = pull(weft, address, tmp_path, key="secret")
    assert (second.fetched, second.removed, second.report.changed) == (1, 1, 1)
    assert [path for method, path in web.asked if method == "GET"] == ["/files/Ropes.md"]
    with pytest.raises(AccessDenied, match="weftwork pull --help"):
        pull(weft, address, tmp_path, key="wrong")
    assert weft.search("nylon")


EVENT = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:Crew\r\nBEGIN:VEVENT\r\nUID:{id}\r\nDTSTAMP:20260301T000000Z\r\n"
    "DTSTART;TZID=Europe/Oslo:20260310T090000\r\nDTEND;TZID=Europe/Oslo:20260310T100000\r\nSUMMARY:{title}\r\n"
    "LOCATION:Pier 4\\, north\r\nATTENDEE;CN=Bob:mailto:bob@example.org\r\n"
    "DESCRIPTION:Bring ropes\r\n  and lamps.\r\n{more}"
    "BEGIN:VALARM\r\nDESCRIPTION:Wake up\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def test_events_of_a_caldav_calendar_are_pages_with_their_times(weft, tmp_path, served):
    files = {"e1.ics": EVENT.format(id="e1", title="Sailing", more="").encode(),
             "e2.ics": EVENT.format(id="e2", title="Repairs", more="").encode()}  # fmt: skip
    web = served(webdav(files, prefix="/cal/"))
    pull(weft, f"caldav+{web.url}/cal/", tmp_path)
    node = weft.search("sailing")[0].node
    assert (node.title, node.fields["start"], node.fields["where"]) == (
        "Sailing", "2026-03-10T09:00:00+01:00", "Pier 4, north",
    )  # fmt: skip
    assert node.fields["attendees"] == ("Bob",)
    assert "Bring ropes and lamps." in weft.search("lamps")[0].passage.text
    assert not any("Wake up" in hit.passage.text for hit in weft.search("wake up"))
    files["e1.ics"] = EVENT.format(id="e1", title="Sailing", more="STATUS:CANCELLED\r\n").encode()
    del files["e2.ics"]
    assert pull(weft, f"caldav+{web.url}/cal/", tmp_path).report.removed == 2


def test_an_event_that_stands_in_two_files_is_one_by_its_latest_revision(tmp_path):
    for name, number, title in (("a", 2, "New"), ("b", 1, "Old"), ("c", 10, "Newest")):
        content = EVENT.format(id="e1", title=title, more=f"SEQUENCE:{number}\r\n")
        (tmp_path / f"{name}.ics").write_text(content, newline="")
    assert [node.title for node in read(Calendar(), tmp_path).of("page")] == ["Newest"]


def test_a_published_calendar_file_is_read(weft, tmp_path, served):
    content = EVENT.format(id="e1", title="Sailing", more="").encode()
    web = served(Web(lambda *_: (200, {}, content)))
    assert pull(weft, f"{web.url}/crew.ics", tmp_path).report.connector == "calendar"
    assert weft.search("sailing")[0].node.fields["start"].startswith("2026-03-10")


def test_objects_of_a_bucket_come_and_go_with_signed_requests(weft, tmp_path, served):
    objects = {f"notes/{name}.md": f"# {name}\n\nAbout {name}.".encode() for name in ("hemp", "canvas", "ash tree")}
    objects["other/x.md"] = b"# x"
    web = served(bucket(objects, key_id="AK", secret="SK"))
    address = f"s3://docs/notes/?endpoint={web.url}&region=eu-north-1"
    first = pull(weft, address, tmp_path, key="AK:SK")
    assert (first.fetched, first.public) == (3, False)
    assert weft.search("ash tree")[0].node.source == f"{web.url}/docs/notes/ash%20tree.md"
    del objects["notes/hemp.md"]
    objects["notes/canvas.md"] = b"# canvas\n\nOr dacron."
    second = pull(weft, address, tmp_path, key="AK:SK")
    assert (second.fetched, second.removed) == (1, 1)
    with pytest.raises(AccessDenied):
        pull(weft, address, tmp_path, key="AK:wrong")
    with pytest.raises(InvalidInput, match="ID:SECRET"):
        pull(weft, address, tmp_path, key="AK")


def issue(number, title, updated, **more):
    return {"number": number, "title": title, "state": "open", "user": {"login": "ann"}, "updated_at": updated,
            "created_at": "2026-03-01T08:00:00Z", "body": f"About {title}.", "comments": 0,
            "labels": [{"name": "good first"}],
            "html_url": f"https://github.com/ann/boats/issues/{number}", "assignees": [], **more}  # fmt: skip


def test_issues_with_their_comments_are_notes_and_a_private_repository_is_private(weft, tmp_path, served):
    issues = {n: issue(n, title, "2026-03-01T08:00:00Z") for n, title in ((1, "Leak"), (2, "Mast"), (3, "Sail"))}
    issues[1]["comments"] = 1
    comments = {1: [{"user": {"login": "bob"}, "created_at": "2026-03-02T08:00:00Z", "body": "Use tar."}]}
    web = served(github(issues, comments, private=True, token="t"))
    address = f"github:ann/boats?api={web.url}"
    first = pull(weft, address, tmp_path, key="t")
    assert (first.fetched, first.public) == (3, False)
    node = weft.search("tar")[0].node
    assert node.source == "https://github.com/ann/boats/issues/1"
    assert nodes_seen(weft, "eve") == 0
    issues[2] = issue(2, "Mast", "2026-03-05T08:00:00Z", state="closed", closed_at="2026-03-05T08:00:00Z")
    del issues[3]
    web.asked.clear()
    second = pull(weft, address, tmp_path, key="t")
    assert (second.fetched, second.removed) == (1, 1)
    assert not any("comments" in path for _, path in web.asked)
    assert weft.search("mast")[0].node.fields["status"] == "closed"


def test_issues_of_a_public_repository_are_for_the_workspace(weft, tmp_path, served):
    web = served(github({1: issue(1, "Leak", "2026-03-01T08:00:00Z")}, {}))
    assert pull(weft, f"github:ann/boats?api={web.url}", tmp_path).public


def words(text):
    return [{"plain_text": text, "href": None}]


def test_pages_of_notion_are_notes_with_their_properties_and_tasks(weft, tmp_path, served):
    def page(id, title, edited, **more):
        properties = {
            "Name": {"type": "title", "title": words(title)},
            "Status": {"type": "status", "status": {"name": "Doing"}},
        }
        return {"id": id, "properties": properties, "last_edited_time": edited, "created_time": "2026-03-01T00:00:00Z",
                "url": f"https://notion.example/{id}", **more}  # fmt: skip

    pages = {
        "p1": page("p1", "Sails", "1"),
        "p2": page("p2", "Ropes", "1"),
        "p3": page("p3", "Bin", "1", in_trash=True),
    }
    blocks = {
        "p1": [
            {"id": "b1", "type": "heading_2", "heading_2": {"rich_text": words("Canvas")}},
            {
                "id": "b2",
                "type": "to_do",
                "to_do": {"rich_text": words("buy thread"), "checked": True},
                "has_children": True,
            },
        ],
        "b2": [{"id": "b3", "type": "paragraph", "paragraph": {"rich_text": words("waxed")}}],
    }
    web = served(notion(pages, blocks, token="t"))
    first = pull(weft, f"notion:?api={web.url}", tmp_path, key="t")
    assert (first.fetched, first.public) == (2, False)
    found = weft.search("buy thread")[0].node
    assert (found.type, found.fields["status"], found.source) == ("todo", "done", "https://notion.example/p1")
    pages["p2"] = page("p2", "Ropes", "2", archived=True)
    web.asked.clear()
    second = pull(weft, f"notion:?api={web.url}", tmp_path, key="t")
    assert (second.fetched, second.removed) == (0, 1)
    assert not any(path.startswith("/v1/blocks") for _, path in web.asked)


def test_a_key_goes_only_where_the_address_names_a_user(weft, tmp_path, served):
    seen = []

    def answer(_method, _path, headers, _body):
        seen.append(headers.get("Authorization"))
        return 200, {}, RSS.format(items="").encode()

    web = served(Web(answer))
    pull(weft, f"{web.url}/feed.xml", tmp_path, key="secret")
    assert seen == [None]
    other = served(Web(lambda *_: (302, {"Location": f"{web.url}/feed.xml"}, b"")))
    pull(weft, f"feed+{other.url.replace('http://', 'http://ann@')}/feed.xml", tmp_path, key="secret")
    assert seen == [None, None]  # a redirect takes no password to another server


def test_who_was_let_in_stays_let_in(weft, tmp_path, served):
    web = served(webdav({"Ropes.md": b"# Ropes\n\nHemp."}))
    pull(weft, f"webdav+{web.url}/files/", tmp_path)
    top = next(node for node in weft.store.marks("main", "imports"))
    with weft.atomic("main") as batch:
        batch.set_access(top, frozenset({"me", "eve"}))
    pull(weft, f"webdav+{web.url}/files/", tmp_path)
    assert nodes_seen(weft, "eve") > 0
    named = pull(weft, f"webdav+{web.url}/files/", tmp_path, Options(access=frozenset({"me"})))
    assert named.report.unchanged == 2
    assert nodes_seen(weft, "eve") == 0


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://example.org/x", "of no kind that is known"),
        ("imaps://ann:secret@example.org/INBOX", "has a password in it"),
        ("github:boats", "OWNER/NAME"),
        ("harbour", "no address"),
    ],
)
def test_an_address_that_cannot_be_used_says_what_to_write(weft, tmp_path, address, why):
    with pytest.raises(InvalidInput, match=why):
        pull(weft, address, tmp_path)


def test_what_is_no_feed_and_what_defines_entities_is_refused(weft, tmp_path, served):
    bodies = [b"<html><body>Hello</body></html>", b'<!DOCTYPE r [<!ENTITY a "b">]><rss/>', b"no XML"]
    web = served(Web(lambda *_: (200, {}, bodies[0])))
    for why in ("no feed", "defines entities", "damaged"):
        with pytest.raises((InvalidInput, RemoteError), match=why):
            pull(weft, f"{web.url}/feed.xml", tmp_path)
        bodies.pop(0)


def test_paths_of_a_server_lead_nowhere_but_into_the_mirror():
    assert file_name("../../etc/passwd") == "etc/passwd"
    assert file_name("a/../.ssh/key") == "a/_.ssh/key"
    assert file_name("..") == "_"
    assert len(file_name("x" * 300 + ".md").encode()) < 130
    assert file_name("x" * 300 + ".md") != file_name("x" * 301 + ".md")
