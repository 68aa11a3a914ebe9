"""The inspector as people use it: a real browser, a real server, the sample workspace."""

import json
import re
import subprocess
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from weftwork import Node, Weft, sample
from weftwork.server.http.options import Limits, Local

from .browsing import QUERY, Visit, browser
from .serving import key_for, served

pytest.importorskip("playwright")

SCRIPT = "<img src=x onerror=\"window.pwned=1;alert('pwned')\"><script>window.pwned=2</script>"
HOSTILE = Node(
    id='"><script>window.pwned=3</script>',
    type="<b>note</b>",
    title=f"Sabotage {SCRIPT}",
    text=f'Sabotage of the kiln. {SCRIPT} </pre></div><svg onload="window.pwned=4">',
    tags=("<i>tag</i>", "javascript:alert(1)"),
    fields={"<u>field</u>": "<script>window.pwned=5</script>"},
)
AXE = Path(__file__).parents[3] / ".venv" / "axe.min.js"
"""axe-core, where  make axe  has put it."""
STATES: dict[str, dict[str, object]] = {
    "start": {"query": ""},
    "context": {},
    "focus": {"focus": "finch"},
    "raw": {"raw": 1},
    "nothing": {"query": "zzqx blorptastic quonkle"},
    "refused": {"focus": "no such node"},
    "compare": {"view": "compare"},
    "compared": {"view": "compare", "b-user": "ben"},
    "receipts": {"view": "receipts"},
    "documents": {"view": "documents"},
    "memories": {"view": "memories"},
    "keys": {"view": "keys"},
}
VIOLATIONS = "axe.run().then((all) => all.violations.map((one) => `${one.id}: ${one.nodes[0].html}`))"
RULES = """() => {
  const wrong = [];
  const named = (each) => document.getElementById(each.getAttribute('aria-labelledby'))?.textContent;
  const labelled = (each) => [...(each.labels ?? [])].map((label) => label.textContent).join(' ') + each.textContent;
  const name = (each) => (each.getAttribute('aria-label') ?? named(each) ?? labelled(each)).trim();
  const controls = 'button, input, select, textarea, a, summary, [role=slider], [role=region]';
  for (const each of document.querySelectorAll(controls)) {
    if (!each.checkVisibility()) continue;
    const seen = each.matches('input, select, textarea, [role=region]') ? '' : each.innerText.trim();
    if (!name(each)) wrong.push(`no name: ${each.outerHTML.slice(0, 120)}`);
    const said = each.getAttribute('aria-label');
    const own = each.matches('[role=slider], #theme');
    if (said && seen && !own && !said.includes(seen)) wrong.push(`name is not its label: ${said}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`twice: ${id}`);
  for (const each of document.querySelectorAll('[aria-labelledby], [aria-controls]')) {
    for (const said of ['aria-labelledby', 'aria-controls']) {
      const to = each.getAttribute(said);
      if (to && !document.getElementById(to)) wrong.push(`${said} leads nowhere: ${to}`);
    }
  }
  for (const each of document.querySelectorAll('ul, ol')) {
    if ([...each.children].some((child) => child.tagName !== 'LI')) wrong.push(`no list: ${each.className}`);
  }
  let level = 0;
  for (const each of document.querySelectorAll('main h2, main h3, main [role=heading]')) {
    if (!each.checkVisibility()) continue;
    const here = Number(each.getAttribute('aria-level') ?? each.tagName[1]);
    if (level && here > level + 1) wrong.push(`heading ${here} after ${level}: ${each.textContent.slice(0, 40)}`);
    level = here;
  }
  return [...new Set(wrong)];
}"""


WEB = "https://example.org/x"
NOT_LOADED = ("Failed to load resource",)
"""What a browser itself says of an answer that is no success."""


def opened(folder):
    weft = Weft.open(folder / "studio.weft", embedder="hashing", clock=lambda: sample.NOW)
    sample.load(weft)
    weft.add([HOSTILE], workspace="studio")
    return weft


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("inspector")) as made:
        yield made


@pytest.fixture(scope="module")
def url(chromium, weft):
    local = Local(user="ana", workspace="studio")
    with served(weft, local=local, limits=Limits(requests_per_minute=0)) as address:
        yield address


@contextmanager
def visiting(chromium, url, allowed=(), **options):
    """A visit by somebody new; at its end nothing may have gone wrong."""
    context = chromium.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    try:
        visit = Visit(context, url, allowed)
        yield visit
        assert visit.errors == []
        assert visit.dialogs == []
    finally:
        context.close()


@pytest.fixture
def visit(chromium, url):
    with visiting(chromium, url) as made:
        yield made


def pdf(*pages):
    """A PDF with a line on each page; readers find its parts without a table of them."""
    kids = " ".join(f"{10 + 2 * number} 0 R" for number in range(len(pages)))
    parts = [
        "%PDF-1.4",
        "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
        f"2 0 obj<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>endobj",
        "3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj",
    ]
    for number, line in enumerate(pages):
        drawn = f"BT /R 14 Tf 60 700 Td ({line}) Tj ET"
        page = f"/Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {11 + 2 * number} 0 R"
        parts.append(f"{10 + 2 * number} 0 obj<<{page}/Resources<</Font<</R 3 0 R>>>>>>endobj")
        parts.append(f"{11 + 2 * number} 0 obj<</Length {len(drawn)}>>stream\n{drawn}\nendstream endobj")
    return "\n".join([*parts, "trailer<</Root 1 0 R>>"]).encode()


def row(page, title):
    return page.locator(".rows .row", has_text=title)


def card(page, title):
    return page.locator("article.card", has=page.locator("h3", has_text=title))


def expect(locator):
    from playwright.sync_api import expect as expecting

    return expecting(locator)


def asked(weft, query=QUERY, user="ana", budget=900, **more):
    return weft.context(query, user=user, workspace="studio", budget=budget, **more)


class TestStart:
    def test_it_says_what_is_there_and_asks_questions_that_it_answers(self, visit, weft):
        page = visit.open(query="")
        expect(page.locator(".tagline")).to_have_text("See exactly what your model reads, and why.")
        expect(page.locator(".counts")).to_contain_text("documents")
        passages = weft.stats(user="ana", workspace="studio")["passages"]
        expect(page.locator(".count", has_text="passages")).to_contain_text(str(passages))
        expect(page.locator(".question-link")).to_have_count(3)
        question = page.locator(".question-link").first.inner_text()
        page.locator(".question-link").first.click()
        visit.settled()
        assert page.locator("#query").input_value() == question
        expect(page.locator("article.card").first).to_be_visible()

    def test_an_empty_workspace_looks_unlike_one_in_which_nothing_fits(self, visit, weft):
        if "bare" not in weft.store.workspaces():
            weft.create_workspace("bare", owner="ana")
        page = visit.open(query="", workspace="bare")
        expect(page.get_by_text("Drop documents here, or choose them")).to_be_visible()
        expect(page.locator(".commands")).to_contain_text("weftwork add")
        page = visit.open(query="kiln", workspace="bare")
        expect(page.locator(".nothing")).to_contain_text("Nothing in this workspace answers this")
        page = visit.open(budget=3)
        expect(page.locator(".nothing")).to_contain_text("Nothing fits into 3 tokens")
        expect(page.locator(".missing").first).to_contain_text("fits with")
        expect(page.locator(".drop")).to_have_count(0)


class TestReceipts:
    def test_a_context_that_was_handed_out_is_opened_as_it_was_and_beside_now(self, visit, weft):
        weft.add([Node(id="lamp", title="Lamp", text="The quartz lamp burns 60 W.")], workspace="studio")
        asked(weft, "quartz lamp", budget=300)
        weft.add([Node(id="lamp", title="Lamp", text="The quartz lamp burns 40 W.")], workspace="studio")
        asked(weft, "quartz lamp", budget=301)
        page = visit.open(query="")
        expect(page.locator("#recent .entry").first).to_contain_text("for ana · by Python")
        page.locator("#recent a").nth(1).click()
        expect(page.locator("#then-now")).to_contain_text("something else now")
        expect(page.locator("#receipt-title")).to_have_text("quartz lamp")
        page.locator("a[data-view=receipts]").click()
        for place in (0, 1):
            page.locator("#receipts input").nth(place).check()
        page.get_by_role("button", name="Compare two").click()
        expect(page.locator("#two-receipts .card").first).to_be_visible()
        assert "b-receipt=" in page.url
        page.go_back()
        page.go_back()
        expect(page.locator("#receipt-title")).to_have_text("quartz lamp")
        page.get_by_role("button", name="Ask it now").click()
        visit.settled()
        assert page.locator("#query").input_value() == "quartz lamp"
        expect(card(page, "Lamp")).to_contain_text("40 W")

    def test_looking_leaves_no_receipt(self, visit, weft):
        before = weft.receipts.list(50, user="ana", workspace="studio")
        visit.open(query="What may the page ask for?")
        visit.open(query="")
        assert weft.receipts.list(50, user="ana", workspace="studio") == before


class TestReading:
    def test_a_question_shows_cards_with_title_path_text_citation_and_tokens(self, visit, weft):
        page = visit.open()
        context = asked(weft)
        expect(page.locator(".headline")).to_contain_text(f"{context.tokens} of 900 tokens")
        expect(page.locator("article.card")).to_have_count(len(context.excerpts) + len(context.overflow))
        place, first = next((n, each) for n, each in enumerate(context.excerpts) if each.document.source)
        shown = page.locator("article.card").nth(place)
        expect(shown.locator("h3")).to_have_text(first.document.title)
        expect(shown).to_contain_text(f"[{first.citation}]")
        expect(shown).to_contain_text(f"{first.tokens} tokens")
        expect(shown.locator(".path")).to_have_text(first.document.source)
        expect(shown.locator("mark").first).to_have_text(re.compile("mirrors|ship", re.IGNORECASE))
        size = shown.locator(".md").evaluate("text => parseFloat(getComputedStyle(text).fontSize)")
        assert size >= 16

    def test_markdown_is_rendered(self, visit):
        page = visit.open(query="Finch", focus="finch", budget=2000)
        expect(card(page, "Finch").first.locator("li.task").first).to_be_visible()
        box = card(page, "Finch").first.locator(".md-task").first
        assert box.get_attribute("aria-label") in ("open", "begun", "done")
        inspection = visit.open(query="mirror inspection what we asked for", budget=2000)
        heading = card(inspection, "Mirror inspection").locator(".md-heading", has_text="What we asked for")
        expect(heading).to_be_visible()
        assert "##" not in heading.inner_text()

    def test_raw_is_exactly_the_text_and_so_is_the_copy(self, chromium, url, weft):
        with visiting(chromium, url, permissions=["clipboard-read", "clipboard-write"]) as visit:
            page = visit.open()
            page.get_by_role("button", name="Raw").click()
            assert page.locator(".raw").evaluate("text => text.textContent") == asked(weft).text
            assert "raw=1" in page.url
            for name in ("Text", "Link", "JSON", "curl", "Python", "Picture of the card"):
                page.locator("#copying summary").click()
                page.locator("#copy-menu").get_by_role("button", name=name).click()
                expect(page.locator("#status")).to_have_text(f"Copied: {name}")
                if name == "Picture of the card":
                    kinds = page.evaluate("navigator.clipboard.read().then((all) => all.flatMap((one) => one.types))")
                    assert kinds == ["image/png"]
                    continue
                copied = page.evaluate("navigator.clipboard.readText()")
                if name == "Text":
                    assert copied == asked(weft).text
                elif name == "Link":
                    assert copied == page.url
                elif name == "JSON":
                    assert json.loads(copied)["budget"] == 900
                else:
                    assert QUERY in copied and "studio" in copied

    def test_what_is_copied_for_programs_gives_the_same_context(self, chromium, url, weft):
        with visiting(chromium, url, permissions=["clipboard-read", "clipboard-write"]) as visit:
            page = visit.open()
            made = {}
            for name in ("curl", "Python"):
                page.locator("#copying summary").click()
                page.locator("#copy-menu").get_by_role("button", name=name).click()
                expect(page.locator("#status")).to_have_text(f"Copied: {name}")
                made[name] = page.evaluate("navigator.clipboard.readText()")
        answer = subprocess.run(["sh", "-c", made["curl"]], capture_output=True, check=True, timeout=30)
        assert json.loads(answer.stdout)["text"] == asked(weft).text
        with redirect_stdout(StringIO()) as said:
            exec(made["Python"], {})
        assert said.getvalue() == asked(weft).text + "\n"

    def test_the_strip_is_to_scale_and_details_are_folded(self, visit, weft):
        page = visit.open()
        context = asked(weft)
        strip = page.locator(".strip")
        widths = strip.locator("i").evaluate_all("parts => parts.map(part => part.getBoundingClientRect().width)")
        assert sum(widths) == pytest.approx((strip.bounding_box()["width"] - 2) * context.tokens / 900, rel=0.03)
        assert widths[1] / widths[0] == pytest.approx(context.excerpts[1].tokens / context.excerpts[0].tokens, rel=0.1)
        assert f"{900 - context.tokens} are unused" in strip.get_attribute("aria-label")
        expect(page.get_by_text("Made in")).to_be_hidden()
        page.locator("#details > summary").click()
        for text in ("Made in", "Found by lexical", "Related"):
            expect(page.locator(".facts-list dt", has_text=text).first).to_be_visible()

    def test_a_document_is_read_whole(self, visit):
        page = visit.open()
        card(page, "Mirror inspection").locator("button.title").click()
        page.get_by_role("button", name="Read it whole").click()
        expect(page.locator("#reader-body")).to_contain_text("Twenty-eight mirrors pass")
        page.keyboard.press("Escape")
        expect(page.locator("#reader")).to_be_hidden()


class TestWhy:
    def test_the_chosen_card_says_why_in_a_sentence_then_what_differs_then_all_numbers(self, visit, weft):
        page = visit.open()
        card(page, "Which mirrors we accept").locator("button.title").click()
        why = page.locator("#why")
        place = next(n for n, each in enumerate(asked(weft).trace, 1) if each.title == "Which mirrors we accept")
        expect(why.locator(".why-said")).to_contain_text(
            re.compile(rf"^{place}(st|nd|rd|th) of \d+: contains .*mirrors")
        )
        expect(why.locator(".signals li").first).to_be_visible()
        # A signal that is the same for all candidates tells nothing.
        expect(why.locator(".signals")).not_to_contain_text("Wanted type")
        expect(why.locator(".numbers table")).to_be_hidden()
        why.get_by_text("All numbers").click()
        expect(why.locator(".numbers")).to_contain_text("Wanted type")
        expect(why.locator(".numbers")).to_contain_text("lexical, place")
        adds = [float(each.replace("−", "-")) for each in why.locator("tbody td:last-child").all_inner_texts()]
        assert sum(adds) == pytest.approx(float(why.locator("tfoot td").last.inner_text()), abs=0.01)

    def test_what_is_chosen_is_marked_in_text_strip_and_ranking_alike(self, visit):
        page = visit.open()
        several = page.locator("article.card[data-candidates*=' ']").first
        several.hover()
        places = several.get_attribute("data-candidates").split()
        expect(page.locator(".rows .row.hovered")).to_have_count(len(places))
        several.locator("button.title").click()
        best = several.get_attribute("data-candidate")
        expect(page.locator(f'.rows .row.selected[data-candidate="{best}"]')).to_be_in_viewport()
        expect(page.locator(".strip i.selected")).to_have_count(1)
        assert "chosen=" in page.url
        for other in page.locator(".rows .row:not(.fate-dropped)").all()[:6]:
            other.locator(".open").click()
            expect(page.locator("article.card.selected")).to_have_count(1)
            expect(page.locator("article.card.selected")).to_be_in_viewport()


class TestCutLine:
    def test_one_list_goes_from_in_to_out_with_text_cost_and_what_is_missing(self, visit, weft):
        page = visit.open()
        page.wait_for_selector(".context.counted")
        context = asked(weft)
        expect(page.locator(".rows .row")).to_have_count(len(context.trace))
        kinds = page.locator(".rows > li").evaluate_all(
            "all => all.map(each => each.matches('.cut') ? 'cut' : each.matches('.fate-dropped') ? 'out' : 'in')"
        )
        inside = sum(each.fate != "dropped" for each in context.trace)
        assert kinds == ["in"] * inside + ["cut"] + ["out"] * (len(context.trace) - inside)
        for out in page.locator(".row.fate-dropped").all():
            expect(out.locator(".cost")).to_have_text(re.compile(r"^\d+$"))
            expect(out.locator(".missing")).to_have_text(
                re.compile(r"^fits with [\d,]+ more tokens?$|^No budget would bring it in: .+")
            )
        assert page.locator(".row.fate-dropped .row-text").first.inner_text().strip()
        expect(page.get_by_text("No budget would bring it in: a repeat of")).to_have_count(1)

    def test_each_number_is_exact_and_the_nearest_miss_is_the_nearest(self, visit, weft):
        page = visit.open()
        page.wait_for_selector(".context.counted")
        lacking = {each.citation: each for each in asked(weft).trace if each.missing_tokens and each.fate != "included"}

        def whole(budget):
            return {each.citation for each in asked(weft, budget=budget).trace if each.fate == "included"}

        nearest = next(more for more in range(1, 2000) if whole(900 + more) & set(lacking))
        expect(page.locator("#nearest")).to_contain_text(f"fits with {nearest} more tokens")
        told = page.locator(".row", has=page.locator("button.near")).evaluate_all(
            "rows => rows.map(row => [row.querySelector('.open').textContent, row.querySelector('.near').textContent])"
        )
        titles = {}
        for each in lacking.values():
            titles.setdefault(each.title, []).append(each.citation)
        assert len(told) >= 5
        for title, text in told:
            if len(titles.get(title, ())) == 1:
                more = int(re.search(r"[\d,]+", text)[0].replace(",", ""))
                citation = titles[title][0]
                assert citation in whole(900 + more) and citation not in whole(900 + more - 1)
        page.locator("#nearest button").click()
        visit.settled()
        expect(page.locator("#cut")).to_have_attribute("aria-valuenow", str(900 + nearest))

    def test_the_line_is_dragged_and_the_list_follows_before_it_is_dropped(self, visit):
        page = visit.open(budget=600)
        inside = page.locator(".row:not(.fate-dropped)").count()
        box = page.locator("#cut").bounding_box()
        page.mouse.move(box["x"] + 80, box["y"] + 10)
        page.mouse.down()
        for step in range(1, 9):
            page.mouse.move(box["x"] + 80, box["y"] + 10 + 20 * step)
        expect(page.locator(".row:not(.fate-dropped)").nth(inside)).to_be_attached()
        assert int(page.locator("#cut").get_attribute("aria-valuenow")) > 600
        page.mouse.up()
        visit.settled()
        dragged = int(page.locator("#cut").get_attribute("aria-valuenow"))
        assert dragged > 600 and f"budget={dragged}" in page.url

    def test_the_line_moves_with_the_keys(self, visit):
        page = visit.open()
        page.locator("#cut").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        visit.settled()
        expect(page.locator("#cut")).to_have_attribute("aria-valuenow", "936")
        expect(page.locator("#cut")).to_be_focused()
        page.keyboard.press("PageUp")
        visit.settled()
        assert int(page.locator("#cut").get_attribute("aria-valuenow")) < 900

    def test_the_list_is_filtered(self, visit):
        page = visit.open()
        page.locator("#filter").fill("calder mail")
        expect(page.locator(".rows .row")).to_have_count(1)
        page.locator("#filter").fill("no such thing anywhere")
        expect(page.locator(".rows .row")).to_have_count(0)


class TestAsking:
    def test_results_follow_the_chips_and_the_address_reproduces_them(self, visit, chromium, url):
        page = visit.open()
        page.locator("#query").fill("What is overdue?")
        page.locator("#recipe").select_option("graph")
        page.locator("#custom summary").click()
        page.locator("#lens").select_option("planning")
        page.locator("#budget").fill("1500")
        visit.settled()
        expect(page.locator(".headline")).to_contain_text("of 1,500 tokens")
        said, shown = page.evaluate("location.hash"), page.locator("#text").inner_text()
        assert "?" not in page.url and "lens=planning" in said
        with visiting(chromium, url) as other:
            other.page.goto(f"{url}/{said}")
            other.settled()
            assert other.page.locator("#text").inner_text() == shown
            assert other.page.locator("#lens").input_value() == "planning"

    def test_without_a_budget_the_default_of_every_surface_holds(self, visit, weft):
        page = visit.open(budget="")
        context = weft.context(QUERY, user="ana", workspace="studio")
        expect(page.locator(".headline")).to_contain_text(f"{context.tokens:,} of 4,000 tokens")

    def test_back_and_forward_return_to_each_question(self, visit):
        page = visit.open()
        page.locator("#query").fill("coating chamber")
        page.locator("#query").press("Enter")
        visit.settled()
        page.locator("#user").select_option("ben")
        visit.settled()
        page.go_back()
        visit.settled()
        assert page.locator("#user").input_value() == "ana"
        page.go_back()
        visit.settled()
        assert page.locator("#query").input_value() == QUERY
        page.go_forward()
        visit.settled()
        assert page.locator("#query").input_value() == "coating chamber"

    def test_another_user_sees_another_context(self, visit):
        page = visit.open()
        expect(row(page, "Ask the bank for a bridging loan")).to_have_count(1)
        page.locator("#user").select_option("ben")
        visit.settled()
        expect(row(page, "Ask the bank for a bridging loan")).to_have_count(0)
        assert "bridging" not in page.locator("#text").inner_text()

    def test_a_section_can_be_closed_and_a_packer_chosen(self, visit):
        page = visit.open()
        page.locator("#custom summary").click()
        page.locator('#shares-fields input[name="semantic"]').fill("0")
        visit.settled()
        expect(page.locator(".missing", has_text="section semantic is closed").first).to_be_attached()
        page.locator("#packer").select_option("ranked")
        visit.settled()
        assert "packer=ranked" in page.url and "semantic%3A0" in page.url
        expect(page.locator("#custom-said")).to_have_text("2")

    def test_the_focus_is_found_while_typing(self, visit):
        page = visit.open()
        page.locator("#custom summary").click()
        page.locator("#focus").press_sequentially("mirror spec")
        expect(page.locator("#focus-list [role=option]").first).to_contain_text("Mirror specification")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        visit.settled()
        assert "focus=s-mirror" in page.url
        expect(page.locator("article.card").first).to_contain_text("Mirror specification")
        expect(page.locator(".section-title").first).to_have_text("Focus")
        page.locator("#focus").fill("")
        visit.settled()
        expect(page.locator(".section-title", has_text="Focus")).to_have_count(0)

    def test_a_thread_brings_its_history(self, visit):
        page = visit.open(recipe="thread")
        page.locator("#custom summary").click()
        page.locator("#thread").click()
        page.locator("#thread-list [role=option]", has_text="Are we ready to ship?").click()
        visit.settled()
        expect(page.locator(".section-title", has_text="Conversation").first).to_be_visible()

    def test_what_the_server_refuses_is_said_and_no_setting_is_silently_another(self, chromium, url):
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.open(focus="no such node")
            expect(page.locator("#problem")).to_contain_text("no such node")
            page = visit.open()
            expect(page.locator("#problem")).to_be_hidden()
            page = visit.open(recipe="no-such-recipe")
            expect(page.locator("#problem .grow")).to_contain_text("no-such-recipe")
            assert page.locator("#problem").inner_text() == page.locator("#problem .grow").inner_text()
            # What still stands there answered something else, and is no longer as strong.
            expect(page.locator("body")).to_have_class(re.compile("stale"))
            page.locator("#recipe").select_option("default")
            visit.settled()
            expect(page.locator("#problem")).to_be_hidden()


class TestStates:
    def test_old_results_are_dimmed_and_progress_shows_while_new_ones_come(self, visit):
        page = visit.open()
        held = []

        def hold(route):
            held.append(route)

        page.route("**/inspect", hold)
        strong = page.locator("article.card .md").first.evaluate("text => getComputedStyle(text).color")
        page.locator("#query").fill("coating chamber")
        page.locator("#query").press("Enter")
        expect(page.locator("#progress")).to_be_visible()
        quiet = page.locator("article.card .md").first.evaluate("text => getComputedStyle(text).color")
        assert quiet != strong
        assert page.evaluate(CONTRAST) == []
        expect(page.locator("#view")).to_have_attribute("aria-busy", "true")
        for route in held:
            route.continue_()
        visit.settled()
        expect(page.locator("#progress")).to_be_hidden()

    def test_an_answer_that_is_no_longer_wanted_is_dropped(self, visit):
        page = visit.open()
        held = []
        page.route(
            "**/inspect", lambda route: held.append(route) if "slowly" in route.request.post_data else route.continue_()
        )
        page.locator("#query").fill("kiln slowly")
        page.locator("#query").press("Enter")
        expect(page.locator("#progress")).to_be_visible()
        page.locator("#query").fill("coating chamber")
        page.locator("#query").press("Enter")
        visit.settled()
        shown = page.locator("#text").inner_text()
        for route in held:
            route.continue_()
        page.evaluate("new Promise(requestAnimationFrame)")
        assert held and page.locator("#text").inner_text() == shown

    def test_a_server_that_is_gone_is_said_and_found_again_when_it_is_back(self, chromium, url):
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.open()
            page.route("**/v1/**", lambda route: route.abort())
            page.route("**/healthz", lambda route: route.abort())
            page.locator("#query").fill("coating chamber")
            page.locator("#query").press("Enter")
            expect(page.locator("#problem")).to_contain_text("The server does not answer. Trying again")
            page.unroute("**/v1/**")
            page.unroute("**/healthz")
            expect(page.locator("#problem")).to_be_hidden()
            visit.settled()
            expect(page.locator("#text")).to_contain_text("chamber")

    def test_skipping_to_the_result_keeps_the_question(self, visit):
        page = visit.open()
        before = page.url
        page.locator("#skip").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#result")).to_be_focused()
        assert page.url == before and page.locator("#query").input_value() == QUERY

    def test_without_scripts_the_page_says_where_the_same_is_to_be_had(self, chromium, url):
        context = chromium.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
        try:
            page = context.new_page()
            page.goto(url)
            notice = page.locator("noscript .notice")
            assert "weftwork explain" in notice.inner_text()
            assert notice.bounding_box()["y"] < 200
            assert not page.locator("#ask").is_visible()
        finally:
            context.close()

    @pytest.mark.parametrize("width", [320, 720])
    def test_nothing_is_cut_at_320_pixels_or_at_twice_the_size(self, chromium, url, width):
        with visiting(chromium, url, viewport={"width": width, "height": 640}) as visit:
            for name in ("context", "start", "compared", "documents", "memories", "keys"):
                page = visit.open(**STATES[name])
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name

    def test_nothing_moves_for_those_who_want_it_calm(self, chromium, url):
        with visiting(chromium, url, reduced_motion="reduce") as visit:
            page = visit.open()
            page.route("**/inspect", lambda route: None)
            page.locator("#query").fill("coating")
            expect(page.locator("#progress")).to_be_visible()
            assert (
                page.evaluate("getComputedStyle(document.getElementById('progress'), '::after').animationName")
                == "none"
            )


class TestComparing:
    def test_two_users_come_first_and_what_differs_stands_first(self, visit, weft):
        page = visit.open(view="compare")
        expect(page.locator(".question-link").first).to_have_text("As ana, and as ben")
        page.locator(".question-link").first.click()
        visit.settled()
        ana, ben = (
            {excerpt.document.id for excerpt in (*context.excerpts, *context.overflow)}
            for context in (asked(weft), asked(weft, user="ben"))
        )
        expect(page.locator(".card.diff-a")).to_have_count(len(ana - ben))
        expect(page.locator(".card.diff-b")).to_have_count(len(ben - ana))
        expect(page.locator("#compare-said")).to_contain_text(f"{len(ana - ben)} only in A, {len(ben - ana)} only in B")
        first = page.locator(".pairs > .card").first
        expect(first).to_have_class(re.compile("diff-a"))
        expect(page.locator(".card.diff-same").first).to_be_hidden()
        assert "bridging" not in " ".join(page.locator(".card[aria-labelledby^=card-b]").all_inner_texts())
        assert "b-user=ben" in page.url

    def test_both_sides_of_a_document_stand_at_the_same_height(self, visit):
        page = visit.open(view="compare", **{"b-budget": 450})
        heights = page.evaluate(
            """() => {
              const cells = [...document.querySelectorAll('.pairs > .card, .pairs > .absent')];
              return cells.map((each) => each.getBoundingClientRect().top);
            }"""
        )
        assert heights and heights[::2] == heights[1::2]
        expect(page.locator(".side-head").nth(1)).to_contain_text("of 450")

    def test_of_a_document_in_both_the_parts_that_one_of_them_shows_are_named(self, visit, weft):
        page = visit.open(view="compare", focus="finch", **{"b-budget": 450})
        shown = [
            {
                item.candidate.node.title
                for each in asked(weft, budget=budget, focus="finch").excerpts
                for item in each.items
            }
            for budget in (900, 450)
        ]
        told = page.locator(".card .only").first.inner_text()
        assert told.startswith("Only here: ")
        named = [title for title in shown[0] - shown[1] if title and title in told]
        assert named or "…" in told


class TestWriting:
    def test_feedback_says_what_it_changes(self, visit):
        page = visit.open()
        card(page, "Terms with Calder Optics").locator("button.title").click()
        page.get_by_role("button", name="Not helpful").click()
        said = page.locator("#feedback-said")
        expect(said).to_contain_text("Score")
        before, after = re.search(r"Score ([\d.]+) → ([\d.]+)", said.inner_text()).groups()
        assert float(after) < float(before)
        page.get_by_role("button", name="Helpful", exact=True).click()
        expect(said).to_contain_text(f"Score {after} →")

    def test_a_memory_is_added_found_changed_pinned_and_forgotten(self, visit):
        page = visit.open(view="memories")
        page.get_by_role("button", name="Add a memory").click()
        page.get_by_label("What shall be remembered?").fill("The zebra crossing near the kiln is closed in May.")
        page.get_by_role("button", name="Remember").click()
        memory = page.locator(".memory", has_text="zebra crossing")
        expect(memory).to_have_count(1)
        memory.get_by_role("button", name="Pin").click()
        expect(memory.locator(".badge")).to_have_text("pinned")
        memory.get_by_role("button", name="Edit").click()
        memory.get_by_label("Change it").fill("The zebra crossing near the kiln is closed in June.")
        memory.get_by_role("button", name="Save").click()
        changed = page.locator(".memory", has_text="closed in June")
        expect(changed).to_have_count(1)
        changed.get_by_role("button", name="History").click()
        expect(changed.locator(".history")).to_contain_text("closed in May")
        page.locator("#memory-search").fill("zebra")
        expect(page.locator(".memory").first).to_contain_text("zebra crossing")
        page.locator("a[data-view=context]").click()
        page.locator("#query").fill("zebra crossing")
        visit.settled()
        expect(page.locator("#text")).to_contain_text("closed in June")
        page.locator("a[data-view=memories]").click()
        page.locator("#memories").evaluate("(list) => list.setAttribute('data-before', '')")
        page.locator("#memory-search").fill("")
        expect(page.locator("#memories[data-before]")).to_have_count(0)  # a new list has a new button
        changed.get_by_role("button", name="Forget").click()
        changed.get_by_role("button", name="Forget for good?").click()
        expect(changed).to_have_count(0)

    def test_a_document_is_uploaded_indexed_read_and_removed(self, visit):
        page = visit.open(view="documents")
        content = pdf("The walrus aquarium opens at nine.", "The walrus aquarium closes at ten.")
        name = "<img src=x onerror=alert(1)>.pdf"
        page.locator("#upload-file").set_input_files({"name": name, "mimeType": "application/pdf", "buffer": content})
        entry = page.locator("#documents .entry", has_text=name)
        expect(entry).to_have_count(1, timeout=30_000)
        entry.get_by_role("button", name="Read").click()
        expect(page.locator("#reader-body")).to_contain_text("closes at ten")
        page.keyboard.press("Escape")
        visit.open(recipe="research", query="walrus aquarium")
        expect(page.locator(".thumb")).to_have_count(2)
        expect(page.locator(".thumb img").first).to_have_attribute("src", re.compile("^blob:"))
        assert page.locator(".thumb img").first.evaluate(WIDTH) > 50
        page.locator(".thumb").first.click()
        assert page.locator("#reader-body img").evaluate(WIDTH) > 300
        page.keyboard.press("Escape")
        visit.open(view="documents")
        entry.get_by_role("button", name="Remove").click()
        entry.get_by_role("button", name="Remove for good?").click()
        expect(entry).to_have_count(0)


class TestHostileContent:
    def test_markup_in_content_titles_tags_and_ids_is_shown_as_text(self, visit):
        page = visit.open(query="sabotage kiln", budget=2000)
        expect(page.locator("#text")).to_contain_text("<script>window.pwned=2</script>")
        card(page, "Sabotage").first.locator("button.title").click()
        page.get_by_text("All numbers").click()
        expect(page.locator("#why .tags")).to_contain_text("<i>tag</i>")
        page.get_by_role("button", name="Raw").click()
        expect(page.locator(".raw")).to_contain_text("<svg onload=")
        page.locator("#custom summary").click()
        page.locator("#focus").fill("sabotage")
        expect(page.locator("#focus-list [role=option]").first).to_contain_text("<img src=x")
        for settings in ({"view": "compare", "b-recipe": "graph"}, {"view": "documents"}, {"query": ""}):
            visit.open(**{"query": "sabotage kiln", **settings})
        assert page.evaluate("window.pwned") is None
        assert page.locator("main img[src=x], main script, main b > script, main a[href^=javascript]").count() == 0

    def test_links_of_notes_lead_to_the_web_or_nowhere(self, visit, weft):
        weft.add(
            [
                Node(
                    id="links",
                    title="Quonset links",
                    text="Quonset [a](javascript:alert(1)) [b](https://example.org/x) [[c]]",
                )
            ],
            workspace="studio",
        )
        page = visit.open(query="quonset links")
        links = card(page, "Quonset links").locator(".md a")
        assert links.evaluate_all("all => all.map(each => [each.href, each.rel])") == [[WEB, "noopener noreferrer"]]

    def test_an_address_with_markup_does_nothing(self, chromium, url):
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.open(query=SCRIPT, lens=SCRIPT, sections="<b>:1,activity:x", **{"b-user": SCRIPT})
            assert page.locator("#query").input_value() == SCRIPT
            assert page.evaluate("window.pwned") is None


class TestEveryone:
    def test_the_keyboard_is_enough(self, visit):
        page = visit.open()
        expect(page.locator("#query")).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.type("coating chamber")
        page.keyboard.press("Enter")
        visit.settled()
        page.locator("#filter").focus()
        page.keyboard.press("Tab")
        first = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("ArrowDown")
        second = page.evaluate("document.activeElement.textContent")
        assert first != second
        expect(page.locator(".row.selected .open").first).to_have_text(second)
        expect(page.locator("#why .why-title")).to_have_text(second)
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"

    def test_it_fits_on_a_phone(self, chromium, url):
        with visiting(chromium, url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as visit:
            page = visit.open()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            page.locator("#recipe").select_option("graph")
            visit.settled()
            page.locator(".row .open").nth(1).tap()
            expect(page.locator("#why .why-said")).to_contain_text("2nd of")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out_from_what_is_behind_it(self, chromium, url, scheme):
        with visiting(chromium, url, color_scheme=scheme) as visit:
            page = visit.open(focus="finch")
            page.get_by_text("All numbers").click()
            assert page.evaluate(CONTRAST) == []
            page.get_by_role("button", name="Switch between light and dark").click()
            assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") != scheme
            for settings in ({"view": "compare", "b-user": "ben"}, {"view": "documents"}, {"query": ""}):
                visit.open(**settings)
                assert page.evaluate(CONTRAST) == []

    def test_no_state_breaks_a_rule_of_accessibility(self, chromium, url):
        wrong = {}
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            for name, settings in STATES.items():
                page = visit.open(**settings)
                wrong[name] = page.evaluate(RULES)
                if AXE.is_file():
                    page.evaluate(AXE.read_text(encoding="utf-8"))
                    wrong[name] += page.evaluate(VIOLATIONS)
        assert {name: found for name, found in wrong.items() if found} == {}


WIDTH = "async (image) => { await image.decode(); return image.naturalWidth; }"
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const mix = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    const found = [];
    for (let each = element; each; each = each.parentElement) found.unshift(getComputedStyle(each).backgroundColor);
    return ['white', ...found];
  };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const shown = walker.currentNode.textContent.trim() && element.checkVisibility();
    if (!shown || element.closest('svg, option, noscript, .skip')) continue;
    const under = behind(element);
    const [a, b] = [light(mix(under)), light(mix([...under, getComputedStyle(element).color]))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...poor];
}"""


@pytest.fixture(scope="module")
def guarded(chromium, tmp_path_factory):
    """A server that wants keys, and two of them."""
    with opened(tmp_path_factory.mktemp("guarded")) as weft:
        keys = {scope: key_for(weft, scope=scope)["Authorization"].split()[1] for scope in ("read", "admin")}
        with served(weft, local=None, limits=Limits(requests_per_minute=0)) as address:
            yield address, keys


class TestKeys:
    def test_a_key_is_asked_for_stays_out_of_the_address_and_decides_what_is_offered(self, chromium, guarded):
        url, keys = guarded
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.page
            page.goto(f"{url}/#query=mirror&workspace=studio")
            expect(page.locator("#key-dialog")).to_be_visible()
            page.get_by_role("button", name="Cancel").click()
            page.get_by_role("button", name="Enter a key").click()
            page.locator("#key").fill("weftwork_wrong")
            page.get_by_role("button", name="Use this key").click()
            expect(page.locator("#key-problem")).to_contain_text("not valid")
            page.locator("#key").fill(keys["read"])
            page.get_by_role("button", name="Use this key").click()
            visit.settled()
            expect(page.locator("#key-dialog")).to_be_hidden()
            expect(page.locator("article.card").first).to_be_visible()
            assert page.locator("#user option").count() == 1
            assert keys["read"] not in page.url
            assert page.evaluate("JSON.stringify(localStorage)").find(keys["read"]) < 0
            # A key that may only read is offered nothing else.
            expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_count(0)
            expect(page.locator("#view-keys")).to_be_hidden()
            page.locator("a[data-view=documents]").click()
            expect(page.locator("#documents .entry").first).to_be_visible()
            expect(page.locator(".drop")).to_have_count(0)
            expect(page.get_by_role("button", name="Remove")).to_have_count(0)

    def test_an_admin_key_looks_through_other_eyes_and_makes_and_revokes_keys(self, chromium, guarded):
        url, keys = guarded
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            visit.page.add_init_script(f"sessionStorage.setItem('weftwork-key', '{keys['admin']}')")
            page = visit.open()
            page.locator("#user").select_option("ben")
            visit.settled()
            expect(row(page, "Ask the bank for a bridging loan")).to_have_count(0)
            page.locator("a[data-view=keys]").click()
            expect(page.locator("#keys .entry")).to_have_count(2)
            page.get_by_label("Name").fill("desk")
            page.get_by_role("button", name="Make a key").click()
            expect(page.locator("#token")).to_have_text(re.compile("^weftwork_"))
            made = page.locator("#keys .entry", has_text="desk")
            made.get_by_role("button", name="Revoke").click()
            made.get_by_role("button", name="Revoke for good?").click()
            expect(made.locator(".badge", has_text="revoked")).to_be_visible()
