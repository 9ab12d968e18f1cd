"""Distils static word vectors from a sentence model.

    python -m venv venv && venv/bin/pip install --no-deps --require-hashes -r infra/training/vectors/requirements.txt
    venv/bin/python infra/training/vectors/distil.py --data ../shared/data --out build/vectors/distilled.bin

A text is the sum of the vectors of its words. The vectors begin as the model's
vectors of the words alone, brought to fewer dimensions, rare words longer; a ridge
regression then moves them until the sums come as near as they can to the model's
vectors of whole texts: labels and descriptions of ESCO and of the built-in vocabulary,
entries of the lexicon, tasks of O*NET, definitions of CIP, lines of unlabelled syllabi.
No labelled document is read. tune.py goes on from there.

The file: "SKWV", version, words, dimensions (little-endian 32-bit numbers), the
words in order, each with a line end, as many bytes as the fifth number says, then a
32-bit float for each word (its scale), then signed bytes, a row for each word, then
a row of 32-bit floats: the mean vector of a label ("background").
"""

import argparse
import collections
import csv
import hashlib
import io
import json
import pathlib
import random
import re
import struct
import sys
import zipfile

import numpy as np
from scipy import sparse

from teacher import Teacher

WORDS, DIMENSIONS, RIDGE = 38000, 192, 1.0
PACKAGES = pathlib.Path(__file__).parents[3] / "pkg"
WORD = re.compile(r"[^\W_]+(?:\.(?:js|net)\b)?(?:\+\+|#)?")


def words(text):
    return WORD.findall(text.lower())


def table(archive, name, delimiter=","):
    with zipfile.ZipFile(archive) as z:
        path = next(n for n in z.namelist() if n.endswith(name))
        return list(csv.DictReader(io.TextIOWrapper(z.open(path), "utf-8-sig"), delimiter=delimiter))


def builtin():
    """Skills of the built-in vocabulary by id."""
    rows = {}
    for path in sorted((PACKAGES / "skills/starter/skills").glob("*.csv")):
        with open(path, newline="") as f:
            rows |= {r["id"]: r | {"aliases": [a for a in r["aliases"].split("|") if a]} for r in csv.DictReader(f)}
    return rows


def lexicon(folder):
    """Pairs of a skill, as the lexicon names it, and an entry, which may be the id of a built-in skill."""
    for path in sorted((PACKAGES / "extraction/lexicon" / folder).glob("*.txt")):
        for line in path.read_text().splitlines():
            skill, separator, entries = line.partition(": ")
            if separator and not line.startswith("#"):
                yield from ((skill, e.strip().removeprefix("=")) for e in entries.split("|"))


def corpus(data):
    """Texts by source, in a fixed order."""
    chance = random.Random(7)
    short = lambda s, n: " ".join(s.split()[:n])
    skills = table(data / "esco/esco-1.1.1-classification-en.zip", "skills_en.csv")
    labels = [r["PREFERREDLABEL"] for r in map(upper, skills)]
    others = sorted({a for r in map(upper, skills) for a in r["ALTLABELS"].split("\n") if a.strip()})
    descriptions = [short(r["DESCRIPTION"], 40) for r in map(upper, skills) if r["DESCRIPTION"].strip()]
    occupations = [short(r["DESCRIPTION"], 40) for r in map(upper, table(data / "esco/esco-1.1.1-classification-en.zip", "occupations_en.csv"))]
    tasks = sorted({r["Task"] for r in table(data / "onet/onet-30-text.zip", "Task Statements.txt", "\t")})
    programs = [short(r["CIPDefinition"], 60) for r in table(data / "cip/CIPCode2020.zip", "CIPCode2020.csv")]
    lines = []
    with zipfile.ZipFile(data / "syllabi/unlabelled.zip") as z:
        for name in sorted(z.namelist()):
            for line in z.read(name).decode("utf-8", "replace").splitlines():
                line = re.sub(r"[#*_|>\[\]]+", " ", line).strip()
                if len(words(line)) >= 3:
                    lines.append(short(line, 50))
                    lines += [c.strip() for c in re.split(r"[,;:–-]\s", line) if 2 <= len(words(c)) <= 8]
    core = builtin().values()
    names = sorted({t for r in core for t in [r["name"], *r["aliases"]]})
    entries = sorted({e for folder in ("core", "esco") for _, e in lexicon(folder) if not e.startswith("core:")})
    texts = {
        "labels": labels, "names": names, "explained": [r["description"] for r in core],
        "entries": chance.sample(entries, 40000),
        "others": chance.sample(others, min(20000, len(others))), "descriptions": descriptions,
        "occupations": occupations, "tasks": chance.sample(tasks, min(9000, len(tasks))), "programs": programs,
        "lines": sorted(set(lines)),
    }
    return others, {k: [t for t in v if words(t)] for k, v in texts.items()}


def upper(row):
    return {k.upper(): v or "" for k, v in row.items()}


def vocabulary(teacher, others, texts):
    """The words that the texts use most, above all those of built-in names, and the most
    frequent ones of the model's own list, which is ordered by frequency."""
    seen = collections.Counter()
    for group in [others, *texts.values()]:
        for t in group:
            seen.update(set(words(t)))
    listed = [w for w, _ in sorted(teacher.tokenizer.get_vocab().items(), key=lambda kv: kv[1]) if re.fullmatch(r"[a-z]{2,}", w)]
    place = {w: i for i, w in enumerate(listed)}
    score = {w: np.log1p(seen[w]) for w in seen if re.search(r"[a-z]", w) and len(w) < 30}
    for w in {w for t in texts["names"] for w in words(t)} & score.keys():
        score[w] += 1
    for w, i in place.items():
        score[w] = score.get(w, 0) + 1.2 * (1 - i / len(listed))
    best = sorted(score, key=lambda w: (-score[w], w))[:WORDS]
    return sorted(best), seen, place


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    options.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/vectors/distilled.bin"))
    options.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/vectors"))
    options = options.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    teacher = Teacher()
    others, texts = corpus(options.data)
    vocab, seen, place = vocabulary(teacher, others, texts)
    print("words", len(vocab), {k: len(v) for k, v in texts.items()}, flush=True)
    alone = embedded(teacher, options.cache, "words", vocab)
    whole = {k: embedded(teacher, options.cache, k, v) for k, v in texts.items()}

    every = np.concatenate(list(whole.values()))
    mean = every.mean(0)
    _, axes = np.linalg.eigh(np.cov((every - mean).T))
    axes = axes[:, ::-1][:, :DIMENSIONS]
    index = {w: i for i, w in enumerate(vocab)}

    # Smooth inverse frequency: how rare a word is in the texts, and in the model's list.
    total = sum(seen.values())
    often = np.array([max(seen[w] / total, 0.3 / (place.get(w, 20000) + 30) / 8) for w in vocab])
    rare = 1e-3 / (1e-3 + often)
    start = ((alone - mean) @ axes) * rare[:, None]

    rows, cols, values, target, weight = [], [], [], [], []
    for group, vectors in whole.items():
        for t, v in zip(texts[group], vectors):
            ids = sorted({index[w] for w in words(t) if w in index})
            if not ids:
                continue
            r = len(target)
            rows += [r] * len(ids)
            cols += ids
            values += [1 / len(ids) ** 0.5] * len(ids)
            target.append((v - mean) @ axes)
    target = np.array(target, np.float64)
    x = sparse.csr_matrix((values, (rows, cols)), shape=(len(target), len(vocab)))
    held = np.random.default_rng(3).random(len(target)) < 0.03
    learned = regression(x[~held], target[~held], start)
    for name, e in (("words alone", start), ("after regression", learned)):
        print(name, "mean cosine with the model on texts held out: %.4f" % cosines(x[held] @ e, target[held]).mean(), flush=True)
    learned = regression(x, target, start)
    write(options.out, vocab, learned, np.asarray((x @ learned)[: len(texts["labels"])].mean(0)))


def embedded(teacher, cache, name, texts):
    key = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    path = cache / f"{name}-{key}.npy"
    if not path.exists():
        v = teacher.embed(texts, progress=lambda n, of: print(f"\r{name} {n}/{of}", end="", file=sys.stderr))
        np.save(path, v.astype(np.float16))
    return np.load(path).astype(np.float32)


def regression(x, target, start):
    """Solves min |x e - target|^2 + RIDGE |e - c start|^2 by conjugate gradients."""
    base = x @ start
    c = (base * target).sum() / (base * base).sum()
    residual = target - c * base
    d = np.zeros_like(start)
    r = x.T @ residual
    p, rr = r.copy(), (r * r).sum(0)
    for _ in range(60):
        ap = x.T @ (x @ p) + RIDGE * p
        a = rr / np.maximum((p * ap).sum(0), 1e-30)
        d += a * p
        r -= a * ap
        new = (r * r).sum(0)
        p = r + (new / np.maximum(rr, 1e-30)) * p
        rr = new
    return c * start + d


def cosines(a, b):
    return (a * b).sum(1) / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-9)


def write(path, vocab, vectors, background, steps=127):
    """Fewer steps make a file that compresses to less."""
    scale = np.maximum(np.abs(vectors).max(1), 1e-9) / steps
    rows = np.round(vectors / scale[:, None]).astype(np.int8)
    text = "".join(w + "\n" for w in vocab).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = b"SKWV" + struct.pack("<4I", 1, len(vocab), vectors.shape[1], len(text)) + text
    raw += scale.astype("<f4").tobytes() + rows.tobytes() + background.astype("<f4").tobytes()
    path.write_bytes(raw)
    print(path, len(raw), hashlib.sha256(raw).hexdigest())


def read(path):
    """Returns the words of a file and their vectors."""
    raw = path.read_bytes()
    _, count, width, length = struct.unpack("<4I", raw[4:20])
    scale = np.frombuffer(raw, "<f4", count, 20 + length)
    rows = np.frombuffer(raw, np.int8, count * width, 20 + length + 4 * count).reshape(count, width)
    return raw[20 : 20 + length].decode().split("\n")[:-1], rows * scale[:, None]


if __name__ == "__main__":
    main()
