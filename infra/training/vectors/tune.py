"""Tunes distilled word vectors so that texts which mean one skill come together.

    venv/bin/python infra/training/vectors/tune.py --data ../shared/data --start build/vectors/distilled.bin --out pkg/extraction/wordvectors/words.bin

Pairs of texts are other labels, descriptions, entries of the lexicon and made-up
sentences (SkillSkape) with the name of the skill of ESCO or of the built-in vocabulary
that they stand for. Of a batch of pairs each text has to find
its own name among all names of the batch, and each name its text (a softmax over
cosines). No labelled course is read. At the end the vectors are turned so that their
first dimensions hold most of the variance; that changes no cosine.
"""

import argparse
import ast
import csv
import pathlib

import numpy as np
from scipy import sparse

from distil import builtin, lexicon, read, table, upper, words, write

EPOCHS, BATCH, TEMPERATURE, STEP, LONGEST = 2, 1024, 0.07, 0.003, 40
STEPS = 24  # of a vector's numbers, each side of zero; 127 fill a byte


def pairs(data, skills):
    """Texts, the names of the skills that they stand for, and the skills' numbers; and all names."""
    core = builtin()
    names = [r["PREFERREDLABEL"] for r in skills] + [r["name"] for r in core.values()]
    esco = {r["PREFERREDLABEL"].lower(): i for i, r in enumerate(skills)}
    ids = {key: esco.get(r["name"].lower(), len(skills) + i) for i, (key, r) in enumerate(core.items())}
    out = []
    for i, r in enumerate(skills):
        out += [(t, i) for t in [*r["ALTLABELS"].split("\n"), r["DESCRIPTION"]]]
    for key, r in core.items():
        out += [(t, ids[key]) for t in [*r["aliases"], r["description"]]]
    for folder, place in (("core", ids), ("esco", esco)):
        for skill, entry in lexicon(folder):
            if skill.lower() in place:
                out.append((core[entry]["name"] if entry in core else entry, place[skill.lower()]))
    with open(data / "benchmarks/skillskape_train.csv", newline="") as f:
        for r in csv.DictReader(f):
            named = [esco.get(s.lower()) for s in ast.literal_eval(r["skills"] or "[]")]
            out += [(r["sentence"], i) for i in named if i is not None]
    out = [(" ".join(t.split()[:LONGEST]), i) for t, i in out if t.strip()]
    return *zip(*out), names


def bags(texts, index):
    """A row for each text with a one for each of its words."""
    rows, cols = [], []
    for i, t in enumerate(texts):
        known = sorted({index[w] for w in words(t) if w in index})
        rows += [i] * len(known)
        cols += known
    return sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), shape=(len(texts), len(index)))


def unit(v):
    length = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-6)
    return v / length, length


def gradient(vectors, texts, names, skill):
    """Of the mean of both cross-entropies, by the vectors; and the loss of the texts."""
    (u, long), (v, wide) = unit(texts @ vectors), unit(names @ vectors)
    scores = (u @ v.T) / TEMPERATURE
    twin = skill[:, None] == skill[None, :]
    np.fill_diagonal(twin, False)
    scores[twin] = -1e9
    by_text, by_name = (np.exp(scores - scores.max(axis, keepdims=True)) for axis in (1, 0))
    by_text /= by_text.sum(1, keepdims=True)
    by_name /= by_name.sum(0, keepdims=True)
    loss = -np.log(np.diag(by_text) + 1e-9).mean()
    g = (by_text + by_name) / 2
    g[np.diag_indices_from(g)] -= 1
    g /= TEMPERATURE * len(skill)
    du, dv = g @ v, g.T @ u
    du = (du - (du * u).sum(1, keepdims=True) * u) / long
    dv = (dv - (dv * v).sum(1, keepdims=True) * v) / wide
    return texts.T @ du + names.T @ dv, loss


def tuned(start, texts, names, skill):
    """Adam with steps in proportion to the size of the vectors."""
    known = np.where((texts.getnnz(1) > 0) & (names.getnnz(1) > 0))[0]
    vectors, mean, square, t = start.copy(), np.zeros_like(start), np.zeros_like(start), 0
    step, chance = 10 * STEP * np.abs(start).mean(), np.random.default_rng(1)
    for epoch in range(EPOCHS):
        order, losses = chance.permutation(known), []
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            g, loss = gradient(vectors, texts[batch], names[batch], skill[batch])
            losses.append(loss)
            t += 1
            mean = 0.9 * mean + 0.1 * g
            square = 0.99 * square + 0.01 * g * g
            vectors -= step * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.99**t)) + 1e-8)
        print("epoch", epoch + 1, "loss %.3f" % np.mean(losses), flush=True)
    return vectors


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    options.add_argument("--start", type=pathlib.Path, default=pathlib.Path("build/vectors/distilled.bin"))
    options.add_argument("--out", type=pathlib.Path, default=pathlib.Path("pkg/extraction/wordvectors/words.bin"))
    options = options.parse_args()
    vocab, start = read(options.start)
    index = {w: i for i, w in enumerate(vocab)}
    skills = [upper(r) for r in table(options.data / "esco/esco-1.1.1-classification-en.zip", "skills_en.csv")]
    texts, skill, names = pairs(options.data, skills)
    print("pairs", len(texts), flush=True)
    skill, names = np.array(skill), bags(names, index)
    vectors = tuned(start, bags(texts, index), names[skill], skill)
    labels, descriptions = (bags([r[c] for r in skills], index) for c in ("PREFERREDLABEL", "DESCRIPTION"))
    both = unit(np.concatenate([labels @ vectors, descriptions @ vectors]))[0]
    _, axes = np.linalg.eigh(both.T @ both)
    vectors = vectors @ axes[:, ::-1]
    shares = sparse.diags(1 / np.sqrt(np.maximum(labels.getnnz(1), 1)))
    write(options.out, vocab, vectors, np.asarray((shares @ labels @ vectors).mean(0)), steps=STEPS)


if __name__ == "__main__":
    main()
