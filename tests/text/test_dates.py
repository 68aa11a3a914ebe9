import pytest

from weftwork.text.dates import iso_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("March 10, 2026", "2026-03-10"),
        ("Mar 10, 2026 9:05 PM", "2026-03-10T21:05"),
        ("@March 10, 2026", "2026-03-10"),
        ("10 March 2026", "2026-03-10"),
        ("10. März 2026", "2026-03-10"),
        ("[[Mar 10th, 2026]]", "2026-03-10"),
        ("Tuesday, March 10, 2026", "2026-03-10"),
        ("<2026-03-10 Tue>", "2026-03-10"),
        ("10.03.2026", "2026-03-10"),
        ("2026/03/10", "2026-03-10"),
        ("3/14/2026", "2026-03-14"),
        ("14/3/2026", "2026-03-14"),
        ("March 1, 2026 → March 10, 2026", "2026-03-10"),
    ],
)
def test_dates_are_read_as_exports_write_them(text, iso):
    assert iso_date(text) == iso


@pytest.mark.parametrize(
    "text", ["", "soon", "3/4/2026", "31.2.2026", "March", "May 2026", "the 10 March 2026 plan", "→"]
)
def test_everything_else_is_no_date(text):
    assert iso_date(text) is None
