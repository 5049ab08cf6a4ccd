"""Compare judges on the same cases, for `jrh compare` and for whoever asks whether one may replace the other.

`sides` opens the runs and pairs their judges, `scoring` reads what each judge answered case by case, and `matching`
finds the cases that both have. `pairing` computes the paired statistics and decides them as one family, `flips` lists
the cases whose verdict changed, `causes` what may explain it, and `cost_curve` places the sides on the plane of cost
and correct verdicts. `results` has the values. Start with `sides.open_sides` and `matching.match`.
"""
