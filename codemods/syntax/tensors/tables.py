"""Functions and methods of torch by what they make: which kind of numbers, of which shape."""

from __future__ import annotations

from fullgraph.codemods.syntax.tensors.known import Kind

FACTORIES = {"zeros", "ones", "full", "rand", "randn", "empty", "eye", "linspace", "logspace"}
"""They make floats if no `dtype` is given; `full` and `empty` may be given another fill."""

COUNTING = {"arange", "randperm", "randint"}
"""They make integers if no `dtype` and no float is given."""

LIKE = {"zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "empty_like"}

LOSSES = {
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "binary_cross_entropy"),
    *(
        "binary_cross_entropy_with_logits",
        "kl_div",
        "cosine_embedding_loss",
        "hinge_embedding_loss",
        "poisson_nll_loss",
    ),
    *("gaussian_nll_loss", "soft_margin_loss", "margin_ranking_loss", "triplet_margin_loss", "multi_margin_loss"),
}
"""Of `torch.nn.functional`: one float, unless `reduction` says otherwise."""

FLOAT_REDUCTIONS = {"mean", "std", "var", "norm", "logsumexp", "nanmean"}
SAME_REDUCTIONS = {"min", "max", "amin", "amax", "median"}
SUMS = {"sum", "prod", "nansum"}
BOOL_REDUCTIONS = {"all", "any"}
INT_REDUCTIONS = {"argmax", "argmin", "count_nonzero"}
REDUCTIONS = FLOAT_REDUCTIONS | SAME_REDUCTIONS | SUMS | BOOL_REDUCTIONS | INT_REDUCTIONS

FLOAT_ELEMENTWISE = {
    *(
        "exp",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "rsqrt",
        "sigmoid",
        "tanh",
        "softmax",
        "log_softmax",
        "sin",
        "cos",
    ),
    *("expm1", "erf", "reciprocal", "logit", "atan", "softplus"),
}
SAME_ELEMENTWISE = {
    *(
        "abs",
        "clamp",
        "clamp_min",
        "clamp_max",
        "clip",
        "neg",
        "relu",
        "square",
        "detach",
        "clone",
        "contiguous",
        "round",
    ),
    *("floor", "ceil", "cumsum", "flip", "roll", "masked_fill", "nan_to_num", "requires_grad_", "sign"),
}
BOOL_ELEMENTWISE = {
    *("isnan", "isinf", "isfinite", "eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or"),
    *("signbit", "isclose"),
}
CASTS: dict[str, Kind] = {
    "float": "float",
    "double": "float",
    "half": "float",
    "bfloat16": "float",
    "long": "int",
    "int": "int",
    "short": "int",
    "char": "int",
    "byte": "int",
    "bool": "bool",
}
DTYPES: dict[str, Kind] = {
    **CASTS,
    "float16": "float",
    "float32": "float",
    "float64": "float",
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "int",
    "uint8": "int",
}
BROADCASTS = {"clamp", "clamp_min", "clamp_max", "clip", "masked_fill"}
"""Of the methods that keep a shape, those that take a tensor of another."""

FLATTENERS = {"flatten", "ravel"}
RESHAPERS = {"view", "reshape", "squeeze", "unsqueeze", "transpose", "permute", "t", "expand", "repeat", "gather"}
RESHAPERS |= {"index_select", "masked_select", "unfold", "narrow", "take", "select", "diagonal", "movedim"}
MOVES = {"to", "cpu", "cuda", "type", "type_as"}
"""The value stays; the device or the dtype may not."""

NEUTRAL = {"detach", "cpu", "clone"}
"""Between a tensor and its `.item()` they change nothing of the number."""

PURE_METHODS = REDUCTIONS | FLOAT_ELEMENTWISE | SAME_ELEMENTWISE | BOOL_ELEMENTWISE | set(CASTS) | FLATTENERS
PURE_METHODS |= (RESHAPERS | MOVES | {"size", "dim", "numel", "keys", "values", "items"}) - {"requires_grad_"}
"""They may be called once instead of many times, and sooner."""

TENSOR_NAMES = {"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"}
TENSOR_NAMES |= {f"torch.{kind}Tensor" for kind in ("Float", "Long", "Int", "Bool", "Double", "Half")}
