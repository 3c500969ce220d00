"""Which objects may be one: by when they were made, and where in a loop."""

from __future__ import annotations

from pystage.compiler.values.identity import SOME_OBJECT, Identity, may_be_one, united


def test_objects_are_made_one_after_the_other() -> None:
    one, other = Identity("here"), Identity("here")
    assert one.may_be(one) and not one.may_be(other)
    assert SOME_OBJECT.may_be(one) and one.may_be(SOME_OBJECT)


def test_what_a_trip_makes_is_nothing_that_trips_before_have_made() -> None:
    before, loop = Identity("a"), Identity(of_loop=True)
    made = Identity("a")
    after = made.after_trips(loop)
    assert before.after_trips(loop) is before
    assert after is Identity("a").after_trips(loop) and after.covers(made) and not after.covers(before)
    assert not after.may_be(Identity("a")) and not after.may_be(before)
    loop.end()
    assert after.may_be(made) and not after.may_be(Identity("a")) and not after.may_be(before)


def test_objects_of_two_places_are_two() -> None:
    loop = Identity(of_loop=True)
    first, second = Identity("a").after_trips(loop), Identity("b").after_trips(loop)
    loop.end()
    assert first is not second and not first.may_be(second)


def test_what_the_loop_around_has_made_is_from_before_an_inner_one() -> None:
    outer = Identity(of_loop=True)
    earlier = Identity("a").after_trips(outer)
    inner = Identity(of_loop=True)
    assert earlier.after_trips(inner) is earlier
    made = Identity("a").after_trips(inner)
    inner.end()
    assert made.after_trips(outer) is earlier and earlier.covers(made)


def test_one_of_several_may_be_each_of_them() -> None:
    one, two, other = Identity(), Identity(), Identity()
    either = Identity.any_of((one, two))
    assert either is Identity.any_of((one, two)) and either.covers(one) and not either.covers(other)
    assert either.may_be(two) and not other.may_be(either)
    assert may_be_one([other, one], [either]) and not may_be_one([other], [either])
    assert united([one], [two, one]) == (one, two)


def test_each_trip_takes_another_element() -> None:
    elements = (Identity("list").after_trips(Identity(of_loop=True)),)
    loop = Identity(of_loop=True)
    taken = Identity("for", elements=elements, taker=loop)
    before = taken.after_trips(loop)
    assert not taken.may_be(before) and not before.may_be(taken)
    assert taken.may_be(elements[0]) and before.may_be(elements[0]) and before.may_be(before)
    other = Identity("another for", elements=elements, taker=loop)
    assert other.may_be(before) and taken.may_be(other)
    loop.end()
    again = Identity("for", elements=elements, taker=Identity(of_loop=True))
    assert again.may_be(before)
