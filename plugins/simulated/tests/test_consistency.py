"""The planted circle and the planted contrary score."""

from __future__ import annotations

from jrh import Mode, Scale


def compared(judge, request, one, other, **how):
    """Return whether the first text wins, in canonical terms."""
    texts = {"request": request, "response_a": one, "response_b": other}
    return judge.ask(1, "A", texts=texts, **how) == "A"


def test_a_quarter_of_the_triples_on_the_circle_are_cycles(bench, near):
    judge = bench(mode=Mode.PAIRWISE, circular=1.0)
    cycles = 0
    for number in range(2000):
        one, two, three = (f"Text {number} {place}" for place in "abc")
        outcome = {compared(judge, "?", *pair) for pair in ((one, two), (two, three), (three, one))}
        cycles += len(outcome) == 1
    assert near(cycles, 2000, 0.25)


def test_the_circle_does_not_depend_on_the_order_of_the_options(bench):
    judge = bench(mode=Mode.PAIRWISE, circular=1.0)
    for number in range(50):
        one, other = f"Text {number}", f"Other {number}"
        assert compared(judge, "?", one, other) != compared(judge, "?", other, one)


def test_the_defects_capture_whole_requests_at_the_stated_rate(bench, near):
    """All responses to a captured request get the mirrored level, and no others do."""
    levels = Scale.of_levels(1, 6)
    contrary = 0
    for number in range(400):
        judge = bench(scale=levels, contrary=0.3, texts={"request": f"Ask {number}", "response": "Text."})
        said = [judge.ask(item, gold) for item, gold in enumerate(("1", "2", "5"))]
        assert said in (["1", "2", "5"], ["6", "5", "2"])
        contrary += said[0] == "6"
    assert near(contrary, 400, 0.3)


def test_each_defect_leaves_the_other_way_of_asking_alone(bench):
    assert bench(contrary=1.0, mode=Mode.PAIRWISE).ask(1, "B") == "B"
    assert bench(circular=1.0).ask(1, "NO") == "NO"
