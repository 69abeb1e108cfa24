"""What names suggest when nothing else is known: sizes, rates, tensors."""

from __future__ import annotations

import re

TENSORS = re.compile(
    r"x|y|z|h|q|k|v|a|b|input|inputs|tensor|tensors|logits|scores|target|targets|pred|preds|prediction|predictions|"
    r"hidden|hidden_states|state|features|feats|obs|observation|observations|values|returns|rewards|advantages|images?|"
    r"img|imgs|query|key|value|weights?|bias|emb|embeddings?|output|outputs|src|tgt|memory|grad|loss|latent|noise|mean|"
    r"std|var|mu|sigma|log_probs?|probs|labels?|masks?|actions?|tokens|ids|input_ids|attention_mask|index|indices|idx|t|u"
)
INTEGERS = re.compile(r"(.*_)?(labels?|tokens|ids|idx|index|indices|actions?|classes)")
MASKS = re.compile(r"(.*_)?(masks?|dones?|valid|keep)")
HIDING = re.compile(r"pad|ignore|hidden|dropped|done")
"""Masks that are true for what does not count."""

IMAGES = re.compile(r"images?|imgs?|pixels|frames")

SIZES: tuple[tuple[str, int], ...] = (
    (r".*(heads?|n_head)", 4),
    (r".*(layers?|depth|blocks?|stages|repeats?)", 2),
    (r".*kernel.*", 3),
    (r".*(stride|groups?|dilation|padding)", 1),
    (r".*(in|img|image|input)_?(chans?|channels)|channels|in_ch", 3),
    (r".*(classes|labels|outputs|num_actions|n_actions)", 10),
    (r".*(vocab|embeddings|tokens).*", 100),
    (r".*(max_len|seq_len|length|block_size|context|horizon|max_.*)", 64),
    (r".*(img|image)_?size|resolution", 32),
    (r".*patch.*", 4),
    (r".*batch.*", 4),
    (r".*(factor|scale|ratio|expansion|mult)", 2),
    (r".*(experts?|topk|top_k|k)", 2),
)
NUMBERS: tuple[tuple[str, float], ...] = (
    (r".*(dropout|drop|p|rate|prob)", 0.1),
    (r".*eps(ilon)?", 1e-5),
    (r".*(lr|learning_rate)", 0.01),
    (r".*(momentum|decay|gamma|beta|alpha|lam|lambda_?|tau)", 0.9),
)
SMALL = re.compile(r"(.*_)?(index|idx|i|j|slot|position|pos|step|epoch|rank|level|layer)")


def size_for(name: str) -> int:
    """An integer that a constructor is given."""
    return next((value for pattern, value in SIZES if re.fullmatch(pattern, name)), 16)


def integer_for(name: str) -> int:
    """An integer that a function is given."""
    if name in ("dim", "axis"):
        return -1
    if SMALL.fullmatch(name):
        return 1
    return next((value for pattern, value in SIZES if re.fullmatch(pattern, name)), 3)


def number_for(name: str) -> float:
    return next((value for pattern, value in NUMBERS if re.fullmatch(pattern, name)), 0.5)


def suggests_integer(name: str) -> bool:
    return bool(
        re.fullmatch(r"(n|num|max|min)_\w+|\w*(dims?|sizes?|features|channels|width|height|hidden|len|count|k|n)", name)
    ) or any(re.fullmatch(pattern, name) for pattern, _ in SIZES)


def suggests_number(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern, _ in NUMBERS)
