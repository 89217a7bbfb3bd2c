#!/usr/bin/env python3
"""Fits the weights of the final ranking (src/recall/rank/mod.rs) on question sets.

usage: fit.py FOLDER [--sets FILE] [--l2 X] [--drop NAME,...] [--ablate]

FOLDER holds one NAME.tsv a set, as `psos eval ... --features` writes them: question, level, grade, record,
then one column a feature. Needs numpy and scipy. Deterministic.

Method: the weights are those of a multinomial logit over the candidates of a question (the probability that
one of its right records is chosen; listwise softmax), each set counted as sets.json says, with an L2 penalty on
standardised features, found by L-BFGS-B. Features that measure a match are held at or above zero: without that,
correlated features take opposite signs that fit one set and hurt another. Questions whose id has an even last
hexadecimal digit of its SHA-1 are fitted, the others reported; and each family of sets is reported with
weights that were fitted on all other families only.
"""
import argparse
import hashlib
import json
import pathlib

import numpy
from scipy.optimize import minimize

NAMES = [
    "trigger-covered", "proximity", "adjacent", "longer", "length", "breadcrumb", "description",
    "bm25-plain", "early", "synonyms", "synonyms-tiers", "coverage", "coverage-tiers", "like", "like-bm25",
    "like-triggers", "like-title", "title-of-used", "trigger-phrase", "same-form", "quoted", "rarest",
    "lead", "paraphrase", "paraphrase-tiers",
]
FREE = {"longer", "length", "lead"}
NEGATIVE = {"title-of-used"}
N_CANDIDATES = 60


def is_even(question):
    return int(hashlib.sha1(question.encode()).hexdigest()[-1], 16) % 2 == 0


class Set:
    """The questions of one set that have a right record, with the features of their candidates."""

    def __init__(self, path, n_questions, n_candidates):
        questions = {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                question, level, grade, _record, *values = line.rstrip("\n").split("\t")
                if question not in questions and len(questions) == n_questions:
                    break
                entry = questions.setdefault(question, (level, [], []))
                if len(entry[1]) >= n_candidates and int(grade) <= 0:
                    continue
                entry[1].append(int(grade) > 0)
                entry[2].append(values)
        self.levels, self.even, self.right, self.values = [], [], [], []
        for question in sorted(questions):
            level, right, values = questions[question]
            if level == "negative":
                continue
            self.levels.append(level)
            self.even.append(is_even(question))
            self.right.append(numpy.array(right))
            self.values.append(numpy.array(values, dtype=numpy.float32))
        self.levels = numpy.array(self.levels)
        self.even = numpy.array(self.even)

    def first(self, weights):
        """Whether the right record is first, for every question (equal scores keep the order of the file)."""
        return numpy.array([r[int(numpy.argmax(v @ weights))] for r, v in zip(self.right, self.values)])


def fit(sets, counts, kept, l2, half=None):
    values, right, share = [], [], []
    for one, count in zip(sets, counts):
        chosen = [i for i in range(len(one.right)) if one.right[i].any() and (half is None or one.even[i] == half)]
        for i in chosen:
            v, r = one.values[i][:, kept], one.right[i]
            # Candidates come in the order of the present weights: the best and the right ones teach.
            keep = numpy.zeros(len(r), bool)
            keep[:N_CANDIDATES] = True
            keep |= r
            v, r = v[keep][: N_CANDIDATES + 20], r[keep][: N_CANDIDATES + 20]
            if not r.any():
                continue
            values.append(v)
            right.append(r)
            share.append(count / len(chosen) / sum(counts))
    width = max(len(r) for r in right)
    x = numpy.zeros((len(right), width, len(kept)), numpy.float32)
    y = numpy.zeros((len(right), width), numpy.float32)
    absent = numpy.full((len(right), width), -1e9, numpy.float32)
    for i, (v, r) in enumerate(zip(values, right)):
        x[i, : len(r)], y[i, : len(r)], absent[i, : len(r)] = v, r, 0
    share = numpy.array(share, numpy.float32)
    scale = x[absent == 0].std(0) + 1e-6
    x /= scale

    def loss(w):
        s = x @ w.astype(numpy.float32) + absent
        e = numpy.exp(s - s.max(1, keepdims=True))
        all_, good = e.sum(1), (e * y).sum(1) + 1e-30
        value = (share * (numpy.log(all_) - numpy.log(good))).sum() + l2 * (w**2).sum()
        slope = ((e / all_[:, None] - e * y / good[:, None]) * share[:, None]).astype(numpy.float32)
        return float(value), numpy.einsum("qk,qkf->f", slope, x).astype(numpy.float64) + 2 * l2 * w

    bounds = [
        (None, None) if NAMES[k] in FREE else (None, 0) if NAMES[k] in NEGATIVE else (0, None) for k in kept
    ]
    found = minimize(loss, numpy.zeros(len(kept)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    weights = numpy.zeros(len(NAMES))
    weights[kept] = found.x / scale
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", type=pathlib.Path, help="JSON object: set name to family and count, see sets.json")
    parser.add_argument("--l2", type=float, default=1e-3)
    parser.add_argument("--drop", default="")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--questions", type=int, help="at most this many of a set")
    parser.add_argument("--candidates", type=int, default=200, help="at most this many of a question, and its right ones")
    args = parser.parse_args()
    known = json.loads(args.sets.read_text()) if args.sets else {}
    kept = [k for k, name in enumerate(NAMES) if name not in args.drop.split(",")]
    sets = {path.stem: Set(path, args.questions, args.candidates) for path in sorted(args.folder.glob("*.tsv"))}
    family_of = {name: known.get(name, {}).get("family", name) for name in sets}

    def fit_on(names, kept, half=None):
        counts = [known.get(name, {}).get("count", 1.0) for name in names]
        return fit([sets[name] for name in names], counts, kept, args.l2, half)

    fitted = list(sets)
    shipped = fit_on(fitted, kept, half=True)
    bm25 = numpy.zeros(len(NAMES))
    bm25[NAMES.index("bm25-plain")] = 1
    others = {}
    for family in sorted(set(family_of.values())):
        others[family] = fit_on([n for n in fitted if family_of[n] != family], kept)

    def mean(hits):
        return 100 * hits.mean() if len(hits) else float("nan")

    rows = []
    print(f"{'set':24}{'bm25 odd':>10}{'ours odd':>10}{'bm25 all':>10}{'left out':>10}{'ours all':>10}")
    for name, one in sets.items():
        base, ours, out = one.first(bm25), one.first(shipped), one.first(others[family_of[name]])
        row = [mean(base[~one.even]), mean(ours[~one.even]), mean(base), mean(out), mean(ours)]
        rows.append(row)
        print(f"{name:24}" + "".join(f"{value:10.1f}" for value in row))
        if len(set(one.levels)) > 1:
            for level in sorted(set(one.levels)):
                at = one.levels == level
                row_ = [mean(base[at & ~one.even]), mean(ours[at & ~one.even]), mean(base[at]), mean(out[at]), mean(ours[at])]
                print(f"  {level:22}" + "".join(f"{value:10.1f}" for value in row_))
    print(f"{'mean':24}" + "".join(f"{value:10.1f}" for value in numpy.nanmean(rows, axis=0)))
    print("\nfeature                weight   left-out weights")
    for k, name in enumerate(NAMES):
        print(f"{name:20}{shipped[k]:9.3f}   " + " ".join(f"{others[f][k]:7.2f}" for f in sorted(others)))
    print("\n[" + ", ".join(f"{w:.3f}" for w in shipped) + "]")
    if args.ablate:
        print("\nwithout               mean of the odd halves")
        for k in kept:
            rest = [j for j in kept if j != k]
            w = fit_on(fitted, rest, half=True)
            value = numpy.mean([mean(s.first(w)[~s.even]) for s in sets.values()])
            print(f"{NAMES[k]:20}{value:8.2f}{value - numpy.nanmean([r[1] for r in rows]):+8.2f}", flush=True)


if __name__ == "__main__":
    main()
