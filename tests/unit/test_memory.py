"""Sharing of buffers over time, by sizes and spans of steps alone."""

from webq8.plan.memory import Span, share

# a large tensor that is done with, in whose buffer both of the others have room
SPANS = {0: Span(4096, 0, 1), 1: Span(64, 2, 4), 2: Span(64, 4, 5)}


def test_tensors_of_one_step_lie_side_by_side() -> None:
    sizes, places = share(SPANS, {}, {}, 2**20)
    assert sizes == [4096]
    assert sorted(places[i].offset for i in (1, 2)) == [0, 256]


def test_tensors_that_may_not_share_a_buffer_do_not() -> None:
    sizes, places = share(SPANS, {}, {1: {2}, 2: {1}}, 2**20)
    assert sizes == [4096, 64]
    assert places[1].buffer != places[2].buffer


def test_tensors_that_avoid_each_other_share_no_buffer_where_that_costs_nothing() -> None:
    sizes, _ = share(SPANS, {1: {2}, 2: {1}}, {}, 2**20)
    assert sizes == [4096]
    two = SPANS | {3: Span(4096, 1, 2)}
    sizes, places = share(two, {0: {3}, 3: {0}, 1: {2}, 2: {1}}, {}, 2**20)
    assert sizes == [4096, 4096]
    assert places[1].buffer != places[2].buffer
