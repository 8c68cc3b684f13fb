"""Answers the questions of src/statistics/oracle-cases.fixture.ts with SciPy, or slowly and directly.

One JSON question a line on standard input; one JSON list of numbers a line on standard output.
"""

import json
import sys

import numpy as np
from scipy import stats


def rank_test_exact(q):
    a, b = q["a"], q["b"]
    if len(set(a + b)) == len(a) + len(b):
        r = stats.mannwhitneyu(a, b, alternative="two-sided", method="exact")
        return [r.statistic, r.pvalue]
    # SciPy's exact method does not know ties. Whole numbers, one value after the other.
    doubled = [round(2 * r) for r in stats.rankdata(a + b)]
    ways = {(0, 0): 1}
    for rank in doubled:
        more = dict(ways)
        for (k, total), n in ways.items():
            if k < len(a):
                key = (k + 1, total + rank)
                more[key] = more.get(key, 0) + n
        ways = more
    sums = {total: n for (k, total), n in ways.items() if k == len(a)}
    here = sum(doubled[: len(a)])
    every = sum(sums.values())
    below = sum(n for total, n in sums.items() if total <= here)
    above = sum(n for total, n in sums.items() if total >= here)
    u = here / 2 - len(a) * (len(a) + 1) / 2
    return [u, min(1.0, 2 * min(below, above) / every)]


def rank_test_approximate(q):
    r = stats.mannwhitneyu(q["a"], q["b"], alternative="two-sided", method="asymptotic")
    return [r.statistic, r.pvalue]


def shift(q):
    return [np.median(np.subtract.outer(q["a"], q["b"]))]


def quantile(q):
    return [np.quantile(q["values"], q["q"])]


def rustc_quartiles(q):
    values = sorted(q["values"])
    half = len(values) // 2
    lower = values[:half] if len(values) % 2 else values[: half - 1]
    return [np.median(lower), np.median(values[half + 1 :])]


def walsh(values):
    x = np.asarray(values, dtype=float)
    i, j = np.triu_indices(len(x))
    return (x[i] / 2) + (x[j] / 2)


def pseudo_median(q):
    return [np.median(walsh(q["values"]))]


def energy(values, tau, kappa):
    x, y = np.asarray(values[:tau]), np.asarray(values[tau:kappa])
    n, m = len(x), len(y)
    across = np.abs(np.subtract.outer(x, y)).sum()
    left = np.abs(np.subtract.outer(x, x)).sum() / 2
    right = np.abs(np.subtract.outer(y, y)).sum() / 2
    q = 2 / (m + n) * across
    if n > 1:
        q -= 2 * m / (m + n) / (n - 1) * left
    if m > 1:
        q -= 2 * n / (m + n) / (m - 1) * right
    return q


def best_split(values):
    """The first of the greatest, where "greatest" forgives rounding."""
    found = [
        (energy(values, tau, kappa), tau)
        for tau in range(1, len(values))
        for kappa in range(tau + 1, len(values) + 1)
    ]
    most = max(q for q, _ in found)
    return next((tau, q) for q, tau in found if q >= most - 1e-12 * abs(most))


def split(q):
    tau, best = best_split(q["values"])
    return [tau, best]


def student(q):
    return [2 * stats.t.sf(abs(q["t"]), q["degrees"])]


def adjusted(q):
    return list(stats.false_discovery_control(q["ps"], method="bh"))


def bootstrap(q):
    values = np.asarray(q["values"])
    n = len(values)
    found = [np.median(walsh(np.repeat(values, times))) for times in q["times"]]
    tail = stats.norm.sf(np.sqrt(n / (n - 1)) * stats.t.isf((1 - q["level"]) / 2, n - 1))
    return [np.quantile(found, tail), np.quantile(found, 1 - tail)]


def spread(values):
    """What rounding alone makes of equal numbers is none."""
    deviation = values.std()
    return 0.0 if deviation < 1e-12 * abs(values.mean()) else deviation


def judged(values, start, index, end):
    left, right = np.asarray(values[start:index]), np.asarray(values[index:end])
    if len(left) + len(right) <= 2:
        p = 1.0
    elif np.isclose(left.mean(), right.mean(), rtol=1e-12, atol=0):
        p = 1.0
    else:
        with np.errstate(divide="ignore"):
            p = stats.ttest_ind_from_stats(
                left.mean(), spread(left), len(left), right.mean(), spread(right), len(right)
            ).pvalue
    return {"index": index, "p": p, "before": left.mean(), "after": right.mean()}


def size(point):
    b, a = point["before"], point["after"]
    return max(abs(a / b - 1) if b else 0, abs(b / a - 1) if a else 0)


def change_points(q):
    values, window = q["values"], q["window"]
    weak = q["p"] * 10 if q["p"] < 0.05 else q["p"] * 2 if q["p"] < 0.5 else q["p"]
    indices = set()
    start = 0
    while start < len(values):
        part = values[start : start + window]
        cuts = []
        while True:
            bounds = [0, *cuts, len(part)]
            candidates = []
            for low, high in zip(bounds, bounds[1:]):
                if high - low > 1:
                    tau, best = best_split(part[low:high])
                    candidates.append((best, low + tau, low, high))
            if not candidates:
                break
            _, index, low, high = max(candidates, key=lambda c: c[0])
            if judged(part, low, index, high)["p"] > weak:
                break
            cuts = sorted([*cuts, index])
        indices.update(start + cut for cut in cuts)
        start = max(start + cuts[-1] if cuts else 0, start + window // 2)
    kept = sorted(indices)

    def again(at):
        bounds = [0, *kept, len(values)]
        return judged(values, bounds[at], kept[at], bounds[at + 2])

    now = [again(at) for at in range(len(kept))]
    while now:
        weakest = max(now, key=lambda c: c["p"])
        if weakest["p"] < q["p"]:
            weakest = min(now, key=size)
            if size(weakest) > q["magnitude"]:
                break
        gone = now.index(weakest)
        del now[gone], kept[gone]
        # Otava looks again at the next two, and not at the one before.
        for at in (gone, gone + 1):
            if at < len(now):
                now[at] = again(at)
    last = [again(at) for at in range(len(kept))]
    return [x for c in last for x in (c["index"], c["p"], c["before"], c["after"])]


answers = {
    "rank-test-exact": rank_test_exact,
    "rank-test-approximate": rank_test_approximate,
    "shift": shift,
    "quantile": quantile,
    "rustc-quartiles": rustc_quartiles,
    "pseudo-median": pseudo_median,
    "split": split,
    "student": student,
    "adjusted": adjusted,
    "bootstrap": bootstrap,
    "change-points": change_points,
}



def number(text):
    """JavaScript writes great doubles without an exponent."""
    whole = int(text)
    return whole if abs(whole) < 2**53 else float(text)


for line in sys.stdin:
    question = json.loads(line, parse_int=number)
    print(json.dumps([float(x) for x in answers[question["f"]](question)]))
