"""The inspector as people use it: a real browser, a real server, the sample workspace."""

import json
import re
from contextlib import contextmanager

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
    return page.locator("#candidates tr.row", has_text=title)


def expect(locator):
    from playwright.sync_api import expect as expecting

    return expecting(locator)


class TestSeeing:
    def test_a_question_shows_text_budget_candidates_walk_and_times(self, visit, weft):
        page = visit.open()
        context = weft.context(QUERY, user="ana", workspace="studio", budget=900)
        expect(page.locator("#figures")).to_contain_text(f"of 900 tokens, {900 - context.tokens} unused")
        expect(page.locator("#figures")).to_contain_text("collect")
        for stage in ("score", "compose", "pack", "render"):
            expect(page.locator(".times")).to_contain_text(stage)
        expect(page.locator("#candidates tr.row")).to_have_count(len(context.trace))
        expect(page.locator("#text .piece")).to_have_count(len(context.excerpts) + len(context.overflow))
        for section in context.sections:
            expect(page.locator("#legend li", has_text=section.name).first).to_contain_text(str(section.tokens))
            expect(page.locator(f"#text .piece.s-{section.name}").first).to_be_visible()
        assert "unused" in page.locator("#bar").get_attribute("aria-label")
        widths = page.locator("#bar .part").evaluate_all(
            "parts => parts.map(part => part.getBoundingClientRect().width)"
        )
        assert sum(widths) == pytest.approx(
            page.locator("#bar").bounding_box()["width"] * context.tokens / 900, rel=0.03
        )
        # Nobody asked for a walk; a lens does.
        expect(page.locator("#walk-panel")).to_be_hidden()
        page.locator("#lens").select_option("general")
        expect(page.locator("#walk svg")).to_be_visible()

    def test_the_bars_of_the_signals_are_as_long_as_the_score(self, visit):
        page = visit.open()
        drawn = page.locator("#candidates tr.row").evaluate_all(
            """rows => rows.map(row => {
              const width = (part) => part.getBoundingClientRect().width;
              const parts = [...row.querySelectorAll('.stack i')].reduce((sum, part) => sum + width(part), 0);
              return [Number(row.querySelector('.score').textContent), parts / width(row.querySelector('.stack'))];
            })"""
        )
        assert len(drawn) > 10
        # What takes away from a score is told, and not drawn.
        assert all(score - 0.02 <= length <= score + 0.06 for score, length in drawn)

    def test_copying_gives_the_text_that_a_model_would_get(self, chromium, url, weft):
        with visiting(chromium, url, permissions=["clipboard-read", "clipboard-write"]) as visit:
            page = visit.open()
            page.get_by_role("button", name="Copy").click()
            expect(page.locator("#copy")).to_have_text("Copied")
            copied = page.evaluate("navigator.clipboard.readText()")
            assert copied == weft.context(QUERY, user="ana", workspace="studio", budget=900).text

    def test_an_excerpt_is_marked_in_the_text_and_all_that_it_shows_in_the_table(self, visit):
        page = visit.open()
        several = page.locator("#text .piece[data-candidates*=' ']").first
        several.hover()
        places = several.get_attribute("data-candidates").split()
        expect(page.locator("#candidates tr.hovered")).to_have_count(len(places))
        for place in places:
            expect(page.locator(f'#candidates tr[data-candidate="{place}"]')).to_have_class(re.compile("hovered"))
        expect(page.locator("#text .piece.hovered")).to_have_count(1)
        several.click()
        best = several.get_attribute("data-candidate")
        expect(page.locator(f'#candidates tr.selected[data-candidate="{best}"]')).to_be_in_viewport()
        expect(page.locator("#candidates tr.selected")).to_have_count(1)

    def test_what_is_chosen_in_the_table_is_marked_in_the_excerpt_that_shows_it(self, visit):
        page = visit.open()
        for other in page.locator("#candidates tr.row:not(.fate-dropped)").all():
            other.locator(".open").click()
            chosen = other.get_attribute("data-candidate")
            expect(page.locator("#text .piece.selected")).to_have_count(1)
            piece = page.locator("#text .piece.selected")
            assert chosen in piece.get_attribute("data-candidates").split()
            expect(piece).to_be_in_viewport()

    def test_the_table_sorts_and_filters(self, visit):
        page = visit.open()
        page.get_by_role("button", name="Tokens", exact=True).click()
        shown = [int(each) for each in page.locator("#candidates td.col-tokens").all_inner_texts()]
        assert shown == sorted(shown, reverse=True)
        expect(page.locator("th.col-tokens")).to_have_attribute("aria-sort", "descending")
        page.get_by_role("button", name="Tokens", exact=True).click()
        shown = [int(each) for each in page.locator("#candidates td.col-tokens").all_inner_texts()]
        assert shown == sorted(shown)
        page.locator("#filter-fate").select_option("out")
        assert set(page.locator("#candidates .fate").all_inner_texts()) == {"out"}
        page.locator("#filter-fate").select_option("")
        page.locator("#filter").fill("calder mail")
        expect(page.locator("#candidates tr.row")).to_have_count(1)
        page.locator("#filter").fill("no such thing anywhere")
        expect(page.get_by_text("No candidate is like that.")).to_be_visible()

    def test_a_row_opens_with_reason_signals_and_who_found_it(self, visit):
        page = visit.open()
        row(page, "Mail pasted in").locator(".open").click()
        detail = page.locator("#candidates tr.detail")
        expect(detail).to_contain_text("lexical")
        expect(detail).to_contain_text("structural")
        expect(detail).to_contain_text("among the best that fit")

    def test_a_near_miss_fits_with_exactly_the_tokens_that_it_names(self, visit):
        page = visit.open()
        note = page.locator("#candidates button.near").first
        title = page.locator("#candidates tr.row", has=page.locator("button.near")).first.locator(".open").inner_text()
        more = int(re.search(r"fits with ([\d,]+) more", note.inner_text())[1].replace(",", ""))
        page.locator("#budget").fill(str(900 + more - 1))
        visit.settled()
        expect(row(page, title).first.locator(".fate")).not_to_have_text("in")
        page.locator("#budget").fill(str(900 + more))
        visit.settled()
        expect(row(page, title).first.locator(".fate")).to_have_text("in")

    def test_the_walk_is_drawn_around_the_focus_and_the_same_each_time(self, visit):
        page = visit.open(focus="finch")
        expect(page.locator("#walk .is-start")).to_contain_text("Finch")
        drawn = page.locator("#walk svg").evaluate("drawing => drawing.outerHTML")
        page.locator("#walk .stop[data-candidate]").nth(1).click()
        expect(page.locator("#candidates tr.selected")).to_be_in_viewport()
        page.reload()
        visit.settled()
        assert page.locator("#walk svg").evaluate("drawing => drawing.outerHTML") == drawn


class TestAsking:
    def test_results_follow_the_settings_and_the_address_reproduces_them(self, visit, chromium, url):
        page = visit.open()
        page.locator("#query").fill("What is overdue?")
        page.locator("#recipe").select_option("graph")
        page.locator("#lens").select_option("planning")
        page.locator("#budget-slider").fill("50")
        visit.settled()
        expect(page.locator("#legend")).to_contain_text("graph")
        budget = page.locator("#budget").input_value()
        expect(page.locator("#figures")).to_contain_text(f"of {int(budget):,} tokens")
        said, shown = page.evaluate("location.hash"), page.locator("#text").inner_text()
        assert "?" not in page.url
        with visiting(chromium, url) as other:
            other.page.goto(f"{url}/{said}")
            other.settled()
            assert other.page.locator("#text").inner_text() == shown
            assert other.page.locator("#lens").input_value() == "planning"

    def test_another_user_sees_another_context(self, visit):
        page = visit.open()
        expect(row(page, "Ask the bank for a bridging loan")).to_have_count(1)
        page.locator("#user").select_option("ben")
        visit.settled()
        expect(row(page, "Ask the bank for a bridging loan")).to_have_count(0)
        assert "bridging" not in page.locator("#text").inner_text()

    def test_a_section_can_be_closed_and_a_packer_chosen(self, visit):
        page = visit.open()
        page.get_by_text("Section budgets").click()
        page.locator('#shares-fields input[name="semantic"]').fill("0")
        visit.settled()
        expect(page.locator("#text .piece.s-semantic:not(.form-line)")).to_have_count(0)
        page.locator("#packer").select_option("ranked")
        visit.settled()
        expect(page.locator("#candidates")).to_contain_text("out")
        assert "packer=ranked" in page.url and "semantic%3A0" in page.url

    def test_the_focus_is_found_while_typing(self, visit):
        page = visit.open()
        page.locator("#focus").press_sequentially("mirror spec")
        expect(page.locator("#focus-list [role=option]").first).to_contain_text("Mirror specification")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        visit.settled()
        assert "focus=s-mirror" in page.url
        expect(page.locator("#text .piece.s-focus").first).to_contain_text("Mirror specification")
        page.locator("#focus").fill("")
        visit.settled()
        expect(page.locator("#text .piece.s-focus")).to_have_count(0)

    def test_a_thread_brings_its_history(self, visit):
        page = visit.open(recipe="thread")
        page.locator("#thread").click()
        page.locator("#thread-list [role=option]", has_text="Are we ready to ship?").click()
        visit.settled()
        expect(page.locator("#legend")).to_contain_text("history")

    def test_an_answer_that_is_no_longer_wanted_is_dropped(self, visit):
        page = visit.open()
        held = []

        def hold(route):
            if "slowly" in (route.request.post_data or ""):
                held.append(route)
            else:
                route.continue_()

        page.route("**/inspect", hold)
        page.locator("#query").fill("kiln slowly")
        page.wait_for_selector("body.busy")
        page.wait_for_timeout(400)
        page.locator("#query").fill("coating chamber")
        visit.settled()
        shown = page.locator("#text").inner_text()
        for route in held:
            route.continue_()
        page.wait_for_timeout(200)
        assert held and page.locator("#text").inner_text() == shown
        assert json.loads(held[0].request.post_data)["query"] == "kiln slowly"

    def test_what_the_server_refuses_is_said(self, chromium, url):
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.open(focus="no such node")
            expect(page.locator("#problem")).to_contain_text("no such node")
            page.locator("#focus").fill("")
            visit.settled()
            expect(page.locator("#problem")).to_be_hidden()


class TestComparing:
    def test_two_users_side_by_side_with_what_differs_marked(self, visit, weft):
        page = visit.open()
        page.get_by_role("button", name="Compare with…").click()
        page.locator("#b-user").select_option("ben")
        visit.settled()
        loan = page.locator("table.diff tr", has_text="Ask the bank for a bridging loan")
        expect(loan).to_contain_text("Ana: money and pay")
        expect(loan).to_contain_text("only in A")
        expect(page.get_by_role("region", name="Text of B")).not_to_contain_text("bridging loan")
        kinds = page.locator(".diff .mark").all_inner_texts()
        assert {"only in A", "only in B", "same"} <= set(kinds)
        assert "b-user=ben" in page.url
        shown = {side: weft.context(QUERY, user=side, workspace="studio", budget=900) for side in ("ana", "ben")}
        ana, ben = (
            {excerpt.document.id for excerpt in (*context.excerpts, *context.overflow)} for context in shown.values()
        )
        assert kinds.count("only in A") == len(ana - ben)
        assert kinds.count("only in B") == len(ben - ana)

    def test_of_a_document_in_both_the_parts_that_one_of_them_shows_are_named(self, visit, weft):
        page = visit.open(focus="finch", compare=1, **{"b-budget": 450})
        shown = [
            [
                item.candidate.node
                for each in weft.context(QUERY, user="ana", workspace="studio", budget=budget, focus="finch").excerpts
                if each.document.id == "finch" and each.form != "line"
                for item in each.items
            ]
            for budget in (900, 450)
        ]
        more = [node.title for node in shown[0] if node not in shown[1]]
        assert more and shown[1] and all(node in shown[0] for node in shown[1])
        finch = page.locator("table.diff tr", has=page.locator(".naming", has_text=re.compile("^Finch$")))
        expect(finch).to_contain_text("other form")
        told = finch.locator("td").nth(1).locator("small").inner_text().removeprefix("Only here: ")
        assert told.split(" and ")[0] == ", ".join(more[:4])
        expect(finch.locator("td").nth(2)).not_to_contain_text("Only here")

    def test_budgets_and_packers_side_by_side(self, visit):
        page = visit.open(compare=1, **{"b-budget": 450, "b-packer": "greedy"})
        expect(page.get_by_role("region", name="Context B")).to_contain_text("of 450")
        marks = set(page.locator(".diff .mark").all_inner_texts())
        assert "only in A" in marks and "only in B" not in marks
        page.get_by_role("button", name="Stop comparing").click()
        visit.settled()
        expect(page.locator("#text")).to_be_visible()


class TestWriting:
    def test_feedback_says_what_it_changes(self, visit):
        page = visit.open()
        row(page, "Terms with Calder Optics").locator(".open").click()
        page.get_by_role("button", name="Not helpful: Terms with Calder Optics").click()
        said = page.locator("#candidates tr.detail .said")
        expect(said).to_contain_text("Score")
        before, after = re.search(r"Score ([\d.]+) → ([\d.]+)", said.inner_text()).groups()
        assert float(after) < float(before)
        page.get_by_role("button", name="Helpful: Terms with Calder Optics", exact=True).press("Enter")
        expect(said).to_contain_text(f"Score {after} →")
        expect(page.locator(":focus")).to_have_text("Helpful")

    def test_a_memory_is_added_and_found(self, visit):
        page = visit.open()
        page.get_by_role("button", name="Add a memory").click()
        page.locator("#memory-text").fill("The zebra crossing near the kiln is closed in May.")
        page.locator("#memory-tags").fill("roads, zebra")
        page.get_by_role("button", name="Remember").click()
        expect(page.locator("#memory-said")).to_contain_text("Remembered as")
        page.locator("#memory-dialog").get_by_role("button", name="Close").click()
        page.locator("#query").fill("zebra crossing")
        visit.settled()
        expect(page.locator("#text")).to_contain_text("The zebra crossing near the kiln is closed in May.")

    def test_a_document_is_uploaded_indexed_and_its_page_opened(self, visit):
        page = visit.open(recipe="research", query="walrus aquarium")
        content = pdf("The walrus aquarium opens at nine.", "The walrus aquarium closes at ten.")
        page.get_by_role("button", name="Upload").click()
        name = "<img src=x onerror=alert(1)>.pdf"
        page.locator("#upload-file").set_input_files({"name": name, "mimeType": "application/pdf", "buffer": content})
        page.locator("#upload-dialog").get_by_role("button", name="Upload").click()
        expect(page.locator("#jobs .state")).to_have_text("indexed", timeout=30_000)
        expect(page.locator("#jobs .name")).to_have_text(name)
        expect(page.locator("#upload-said")).to_contain_text("can be found now")
        page.locator("#upload-dialog").get_by_role("button", name="Close").click()
        visit.settled()
        expect(page.locator("#pages .thumb")).to_have_count(2)
        expect(page.locator("#pages img").first).to_have_attribute("src", re.compile("^blob:"))
        assert page.locator("#pages img").first.evaluate(WIDTH) > 50
        page.locator("#pages .thumb").first.click()
        expect(page.locator("#page-body img")).to_be_visible()
        assert page.locator("#page-body img").evaluate(WIDTH) > 300
        expect(page.locator("#page-title")).to_contain_text("page")
        page.keyboard.press("Escape")
        expect(page.locator("#page-dialog")).to_be_hidden()


class TestHostileContent:
    def test_markup_in_content_titles_tags_and_ids_is_shown_as_text(self, visit):
        page = visit.open(query="sabotage kiln", budget=2000)
        expect(page.locator("#text")).to_contain_text("<script>window.pwned=2</script>")
        row(page, "Sabotage").locator(".open").first.click()
        expect(page.locator("tr.detail .tags").first).to_contain_text("<i>tag</i>")
        page.get_by_role("button", name=re.compile("^Focus on it")).first.click()
        visit.settled()
        page.locator("#focus").fill("sabotage")
        expect(page.locator("#focus-list [role=option]").first).to_contain_text("<img src=x")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Compare with…").click()
        page.locator("#b-recipe").select_option("graph")
        visit.settled()
        expect(page.locator("table.diff")).to_contain_text("<img src=x")
        assert page.evaluate("window.pwned") is None
        assert page.locator("main img[src=x], main script, main b > script").count() == 0

    def test_an_address_with_markup_does_nothing(self, visit):
        page = visit.open(query=SCRIPT, recipe=SCRIPT, sections="<b>:1,activity:x", **{"b-user": SCRIPT})
        assert page.locator("#query").input_value() == SCRIPT
        assert page.evaluate("window.pwned") is None


class TestEveryone:
    def test_the_keyboard_is_enough(self, visit):
        page = visit.open()
        page.locator("body").press("Control+Home")
        expect(page.locator("#query")).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.type("coating chamber")
        visit.settled()
        page.locator("#filter").focus()
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#candidates .open')"):
                break
        first = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("ArrowDown")
        second = page.evaluate("document.activeElement.textContent")
        assert first != second
        expect(page.locator("#candidates tr.selected .open")).to_have_text(second)
        page.keyboard.press("Enter")
        expect(page.locator("#candidates .open:focus")).to_have_attribute("aria-expanded", "true")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Helpful")

    def test_it_fits_on_a_phone(self, chromium, url):
        with visiting(chromium, url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as visit:
            page = visit.open()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            expect(page.locator("#recipe")).to_be_hidden()
            page.locator("#settings > summary").tap()
            page.locator("#recipe").select_option("graph")
            visit.settled()
            row(page, "Mail pasted in").first.locator(".open").tap()
            expect(page.locator("tr.detail").first).to_be_visible()
            page.locator("#compare-toggle").tap()
            visit.settled()
            expect(page.locator("#compared")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out_from_what_is_behind_it(self, chromium, url, scheme):
        with visiting(chromium, url, color_scheme=scheme) as visit:
            page = visit.open(focus="finch")
            page.locator("#candidates .open").nth(1).click()
            assert page.evaluate(CONTRAST) == []
            page.get_by_role("button", name="Switch between light and dark").click()
            assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") != scheme
            page.get_by_role("button", name="Compare with…").click()
            visit.settled()
            assert page.evaluate(CONTRAST) == []

    def test_every_control_has_a_name(self, visit):
        page = visit.open(compare=1)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, input, select, textarea')]
            .filter(each => !(each.labels?.length || each.getAttribute('aria-label') || each.textContent.trim()))
            .map(each => each.outerHTML)"""
        )
        assert nameless == []


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
    def test_a_key_is_asked_for_and_stays_out_of_the_address(self, chromium, guarded):
        url, keys = guarded
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            page = visit.page
            page.goto(f"{url}/#query=mirror&workspace=studio")
            expect(page.locator("#key-dialog")).to_be_visible()
            page.locator("#key").fill("weftwork_wrong")
            page.get_by_role("button", name="Use this key").click()
            expect(page.locator("#key-problem")).to_contain_text("not valid")
            page.locator("#key").fill(keys["read"])
            page.get_by_role("button", name="Use this key").click()
            visit.settled()
            expect(page.locator("#key-dialog")).to_be_hidden()
            expect(page.locator("#text .piece").first).to_be_visible()
            expect(page.locator("#user")).to_be_disabled()
            assert keys["read"] not in page.url
            assert page.evaluate("JSON.stringify(localStorage)").find(keys["read"]) < 0
            row(page, "Mirror specification").first.locator(".open").click()
            page.get_by_role("button", name=re.compile("^Helpful")).first.click()
            expect(page.locator("#problem")).to_contain_text("scope write")

    def test_an_admin_key_may_look_through_another_users_eyes(self, chromium, guarded):
        url, keys = guarded
        with visiting(chromium, url, allowed=NOT_LOADED) as visit:
            visit.page.add_init_script(f"sessionStorage.setItem('weftwork-key', '{keys['admin']}')")
            page = visit.open()
            page.locator("#user").select_option("ben")
            visit.settled()
            expect(row(page, "Ask the bank for a bridging loan")).to_have_count(0)
