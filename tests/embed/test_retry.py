import pytest

from weftwork.embed.retry import retry_after, seconds_to_wait

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


def test_retry_after_in_seconds_is_honoured() -> None:
    assert seconds_to_wait(3, {"retry-after": " 7 "}) == 7


def test_retry_after_as_a_date_is_read_against_the_date_of_the_server() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:09 GMT", "date": DATE}) == 9


def test_a_date_in_the_past_means_now() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT", "date": DATE}) == 0


@pytest.mark.parametrize("value", ["soon", "-3", "", "nan", "²", "Wed, 99 Oct 2015 07:28:00 GMT"])
def test_nonsense_is_as_good_as_nothing(value: str) -> None:
    assert retry_after({"retry-after": value, "date": DATE}) is None


def test_a_date_without_the_date_of_the_server_is_not_guessed() -> None:
    assert retry_after({"retry-after": DATE}) is None


def test_without_advice_the_wait_doubles_up_to_half_a_minute() -> None:
    assert [seconds_to_wait(attempt, {}) for attempt in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
