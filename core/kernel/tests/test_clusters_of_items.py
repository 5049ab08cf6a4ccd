"""Which items are one cluster."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from jrh import Item
from jrh.values import link_members
from jrh.values.clusters import clusters_of


def item(name: str, text: str, group: str = "") -> Item:
    return Item(id=name, fields={"request": "r", "response": text}, group=group)


def test_a_group_and_the_same_content_make_a_cluster_also_by_way_of_others():
    items = [item("d", "one", "g"), item("c", "two", "g"), item("b", " two\n"), item("a", "three"), item("e", "four")]
    assert clusters_of(items) == {"d": "b", "c": "b", "b": "b", "a": "a", "e": "e"}


def test_gold_label_and_id_are_no_content_but_every_field_is():
    one = Item(id="1", fields={"request": "r", "response": "x", "note": "n"}, gold="YES")
    other = Item(id="2", fields={"request": "r", "response": "x", "note": "n"}, gold="NO")
    third = Item(id="3", fields={"request": "r", "response": "x", "note": "m"}, gold="NO")
    assert clusters_of([one, other, third]) == {"1": "1", "2": "1", "3": "3"}


def test_items_without_any_text_are_their_own():
    assert clusters_of([Item(id="1", fields={}), Item(id="2", fields={"response": " "})]) == {"1": "1", "2": "2"}


@given(links=st.lists(st.tuples(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("12345"), max_size=2))))
def test_the_components_are_those_of_scipy_in_any_order(links):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    found = link_members(links)
    assert found == link_members(reversed(links))
    names = sorted({*found, *(key for _, keys in links for key in keys)})
    place = {name: number for number, name in enumerate(names)}
    edges = [(place[member], place[key]) for member, keys in links for key in keys]
    rows, columns = ([edge[side] for edge in edges] for side in (0, 1))
    graph = coo_array(([1] * len(edges), (rows, columns)), shape=(len(names), len(names)))
    _, of = connected_components(graph, directed=False) if names else (0, [])
    for one in found:
        assert found[one] == min(other for other in found if of[place[other]] == of[place[one]])
