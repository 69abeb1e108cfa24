"""What the layers of torch.nn and the functions of torch ask of the tensors that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullgraph.validate.drafting.evaluate import UNKNOWN, Array, Layer
from fullgraph.validate.drafting.facts import LENGTH, WIDTH, Facts

IMAGE = 32
CLASSES = 10


def is_size(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def last(value: Any, rank: int | None = None, **more: Any) -> Facts:
    """The last dimension has this size."""
    return Facts(rank=rank, sizes={-1: value} if is_size(value) else {}, **more)


def channels(value: Any, rank: int, extent: int) -> Facts:
    """The second dimension has this size, and the others are pixels."""
    sizes = dict.fromkeys(range(2, rank), extent)
    return Facts(rank=rank, sizes={**sizes, **({1: value} if is_size(value) else {})})


def linear(layer: Layer, position: int) -> Facts:
    return last(layer.value(position, f"in{position + 1}_features" if layer.kind == "Bilinear" else "in_features"))


def convolution(layer: Layer, position: int) -> Facts:
    dimensions = int(layer.kind[-2])
    return channels(layer.value(0, "in_channels"), dimensions + 2, IMAGE)


def normalization(layer: Layer, position: int) -> Facts:
    if layer.kind in ("LayerNorm", "RMSNorm"):
        shape = layer.value(0, "normalized_shape")
        sizes = list(shape) if isinstance(shape, (list, tuple)) else [shape]
        return Facts(sizes={index - len(sizes): one for index, one in enumerate(sizes) if is_size(one)})
    if layer.kind == "GroupNorm":
        return channels(layer.value(1, "num_channels"), 4, IMAGE)
    dimensions = int(layer.kind[-2])
    count = layer.value(0, "num_features")
    return last(count, 2) if layer.kind == "BatchNorm1d" else channels(count, dimensions + 2, IMAGE)


def embedding(layer: Layer, position: int) -> Facts:
    count = layer.value(0, "num_embeddings")
    return Facts(kind="int", below=count if is_size(count) else None)


def recurrent(layer: Layer, position: int) -> Facts:
    if position:
        return Facts()
    return last(layer.value(0, "input_size"), 2 if layer.kind.endswith("Cell") else 3)


def attention(layer: Layer, position: int) -> Facts:
    return last(layer.value(0, "embed_dim" if layer.kind == "MultiheadAttention" else "d_model"), 3)


def pooling(layer: Layer, position: int) -> Facts:
    dimensions = int(layer.kind[-2])
    return channels(UNKNOWN, dimensions + 2, IMAGE)


def container(layer: Layer, position: int) -> Facts:
    """The first layer that asks for anything, as long as those before it keep the shape."""
    for inner in layer.args:
        if isinstance(inner, Layer):
            facts = facts_of_layer(inner, position)
            if facts != Facts() or inner.kind not in KEEPING:
                return facts
    return Facts()


def classification(layer: Layer, position: int) -> Facts:
    return FUNCTIONS["cross_entropy"][position] if position < 2 else Facts()


def shuffling(layer: Layer, position: int) -> Facts:
    factor = layer.value(0, "upscale_factor")
    return channels(factor**2 if is_size(factor) else UNKNOWN, 4, IMAGE)


def nothing(layer: Layer, position: int) -> Facts:
    return Facts()


KEEPING = {
    *("ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "GELU", "SiLU", "Mish", "Tanh", "Sigmoid", "Softmax", "LogSoftmax"),
    *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "Identity", "Softplus", "Hardswish"),
    *("Hardtanh", "Hardsigmoid", "LogSigmoid", "Softsign", "CELU", "PReLU", "Tanhshrink", "Flatten"),
}
"""Layers after which a tensor has the shape that it had; flattening a batch of vectors changes nothing."""

NORMALIZING = {
    *("LayerNorm", "RMSNorm", "GroupNorm"),
    *(f"{kind}{n}d" for kind in ("BatchNorm", "InstanceNorm") for n in (1, 2, 3)),
}

RULES: dict[str, Callable[[Layer, int], Facts]] = {
    **dict.fromkeys(("Linear", "Bilinear"), linear),
    **{f"{kind}{n}d": convolution for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)},
    **{f"{kind}{n}d": normalization for kind in ("BatchNorm", "InstanceNorm") for n in (1, 2, 3)},
    **dict.fromkeys(("LayerNorm", "RMSNorm", "GroupNorm"), normalization),
    **{
        f"{kind}{n}d": pooling
        for kind in ("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "LPPool")
        for n in (1, 2, 3)
    },
    **dict.fromkeys(("Embedding", "EmbeddingBag"), embedding),
    **dict.fromkeys(("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"), recurrent),
    **dict.fromkeys(
        ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"), attention
    ),
    "Sequential": container,
    **dict.fromkeys(("CrossEntropyLoss", "NLLLoss"), classification),
    "PixelShuffle": shuffling,
}


def facts_of_layer(layer: Layer, position: int) -> Facts:
    """What a layer asks of the tensor at this position of its arguments."""
    return RULES.get(layer.kind, nothing)(layer, position)


# Functions


SAME = Facts()
LABELS = Facts(rank=1, kind="int", below=WIDTH)
MATRIX = Facts(rank=2, has_batch=False)
VECTOR = Facts(rank=1, has_batch=False)
HEADS = Facts(rank=4, sizes={1: 2, 2: LENGTH, 3: WIDTH})
MASK = Facts(kind="bool")
INDEX = Facts(kind="int", below=WIDTH)

FUNCTIONS: dict[str, tuple[Facts, ...]] = {
    "cross_entropy": (Facts(rank=2), LABELS),
    "nll_loss": (Facts(rank=2), LABELS),
    "linear": (SAME, MATRIX, VECTOR),
    "embedding": (INDEX, Facts(rank=2, has_batch=False)),
    "one_hot": (INDEX,),
    "bmm": (Facts(rank=3, sizes={1: WIDTH, 2: WIDTH}), Facts(rank=3, sizes={1: WIDTH, 2: WIDTH})),
    "mm": (MATRIX, MATRIX),
    "scaled_dot_product_attention": (HEADS, HEADS, HEADS),
    "where": (MASK,),
    "masked_fill": (SAME, MASK),
    "masked_select": (SAME, MASK),
    "masked_scatter": (SAME, MASK),
    "gather": (SAME, SAME, INDEX),
    "index_select": (SAME, SAME, Facts(rank=1, kind="int", below=WIDTH)),
    "logical_not": (MASK,),
    "logical_and": (MASK, MASK),
    "max_pool2d": (channels(UNKNOWN, 4, IMAGE),),
    "avg_pool2d": (channels(UNKNOWN, 4, IMAGE),),
    "interpolate": (channels(UNKNOWN, 4, IMAGE),),
    "pixel_shuffle": (channels(4, 4, IMAGE),),
}
"""What functions of torch ask of their arguments by position; a method's first argument is the tensor itself."""


def facts_of_call(name: str, position: int, others: list[Any]) -> Facts:
    """`others` are the values of all arguments, where known: a weight says what is multiplied with it."""
    if name in ("conv1d", "conv2d", "conv3d"):
        return facts_of_convolution(name, position, others)
    weight = others[1] if len(others) > 1 else UNKNOWN
    if position == 0 and isinstance(weight, Array) and len(weight.shape) >= 2:
        if name == "linear":
            return Facts(sizes={-1: weight.shape[1]})
        if name in ("matmul", "mm"):
            return Facts(sizes={-1: weight.shape[-2]})
        if name == "embedding":
            return Facts(kind="int", below=weight.shape[0])
    rules = FUNCTIONS.get(name, ())
    return rules[position] if position < len(rules) else SAME


def facts_of_convolution(name: str, position: int, others: list[Any]) -> Facts:
    rank = int(name[-2]) + 2
    weight = others[1] if len(others) > 1 else UNKNOWN
    inner = weight.shape[1] if isinstance(weight, Array) else 3
    if position == 0:
        return channels(inner, rank, IMAGE)
    return Facts(rank=rank, sizes={0: WIDTH, 1: inner, **dict.fromkeys(range(2, rank), 3)}, has_batch=False)
