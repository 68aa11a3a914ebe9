from weftwork.faces.thread import ContextCache


def cache(**options):
    seconds = [0.0]
    made = ContextCache(timer=lambda: seconds[0], **options)
    return made, seconds


def test_a_value_lives_for_thirty_seconds_after_its_last_use():
    made, seconds = cache()
    made.set(("t", "m"), "x")
    for moment in (29, 58, 88):
        seconds[0] = moment
        assert made.get(("t", "m")) == "x"
    seconds[0] = 118.1
    assert made.get(("t", "m")) is None
    assert len(made) == 0


def test_the_hundred_used_last_are_kept():
    made, _ = cache()
    for number in range(100):
        made.set((str(number),), number)
    assert made.get(("0",)) == 0
    made.set(("new",), -1)
    assert len(made) == 100
    assert made.get(("0",)) == 0
    assert made.get(("1",)) is None


def test_what_is_no_longer_current_is_forgotten():
    made, _ = cache()
    made.set(("t",), "old")
    assert made.get(("t",), lambda value: value == "new") is None
    assert made.get(("t",)) is None


def test_a_pattern_takes_out_what_has_it_in_a_part_of_its_key():
    made, _ = cache()
    for key in (("thread-1", "ana"), ("thread-2", "ana"), ("thread-12", "ben")):
        made.set(key, key)
    made.invalidate("thread-1")
    assert made.get(("thread-2", "ana")) is not None
    assert len(made) == 1
    made.invalidate("ana")
    assert len(made) == 0


def test_parts_of_a_key_do_not_run_together():
    made, _ = cache()
    made.set(("ab", "c"), 1)
    made.set(("a", "bc"), 2)
    assert (made.get(("ab", "c")), made.get(("a", "bc"))) == (1, 2)
    made.invalidate("bc")
    assert (made.get(("ab", "c")), made.get(("a", "bc"))) == (1, None)


def test_hits_are_counted():
    made, _ = cache()
    assert made.hit_rate == 0.0
    made.get(("a",))
    made.set(("a",), 1)
    made.get(("a",))
    made.get(("a",))
    assert (made.hits, made.misses, made.hit_rate) == (2, 1, 2 / 3)
