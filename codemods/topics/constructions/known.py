"""What torch's functions, methods and layers do with the tensors that they are given, by name."""

from __future__ import annotations

FACTS = {"device", "dtype", "is_cuda", "itemsize", "layout", "ndim", "requires_grad", "shape"}
"""What is known of a tensor without its numbers."""

VIEW_ATTRIBUTES = {"H", "T", "mH", "mT"}

VIEWS = {
    *("atleast_1d", "atleast_2d", "bfloat16", "bool", "broadcast_to", "contiguous", "cpu", "cuda", "detach"),
    *("double", "expand", "expand_as", "flatten", "float", "half", "int", "long", "movedim", "narrow"),
    *("permute", "ravel", "reshape", "select", "squeeze", "swapaxes", "t", "to", "transpose", "type"),
    *("type_as", "unsqueeze", "view", "view_as"),
}
"""Methods and functions whose result may be the tensor itself, or share its memory."""

PLAIN = {
    *("dim", "element_size", "get_device", "is_floating_point", "item", "nelement", "numel", "size", "stride"),
    *("tolist",),
}
"""Methods that give numbers."""

NEW = {
    *("abs", "acos", "add", "addcdiv", "addcmul", "addmm", "all", "allclose", "amax", "amin", "any", "argmax"),
    *("argmin", "argsort", "asin", "atan", "atan2", "baddbmm", "bilinear", "binary_cross_entropy"),
    *("binary_cross_entropy_with_logits", "bincount", "bitwise_and", "bitwise_or", "bmm", "bucketize", "cat"),
    *("cdist", "ceil", "clamp", "clip", "clone", "complex", "concat", "conv1d", "conv2d", "conv3d"),
    *("conv_transpose1d", "conv_transpose2d", "cos", "cosh", "cosine_similarity", "cross", "cross_entropy"),
    *("cummax", "cumprod", "cumsum", "diff", "dist", "div", "divide", "dot", "dstack", "einsum", "embedding"),
    *("empty_like", "eq", "equal", "erf", "exp", "expm1", "fft", "flip", "floor", "floor_divide", "fmod"),
    *("full_like", "gather", "ge", "greater", "grid_sample", "gt", "histc", "hstack", "huber_loss", "ifft"),
    *("index_add", "index_copy", "index_fill", "index_select", "irfft", "isclose", "isfinite", "isin", "isinf"),
    *("isnan", "kl_div", "kron", "l1_loss", "layer_norm", "le", "lerp", "less", "linear", "log", "log1p"),
    *("log2", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "lt"),
    *("masked_fill", "masked_scatter", "masked_select", "matmul", "max", "maximum", "mean", "median", "min"),
    *("minimum", "mm", "mse_loss", "mul", "multiply", "mv", "ne", "neg", "new_ones", "new_tensor", "new_zeros"),
    *("nll_loss", "nonzero", "norm", "one_hot", "ones_like", "outer", "pairwise_distance", "polar", "pow"),
    *("prod", "rand_like", "randn_like", "reciprocal", "remainder", "repeat", "repeat_interleave", "rfft"),
    *("roll", "round", "rsqrt", "rsub", "scatter", "scatter_add", "searchsorted", "sigmoid", "sign", "sin"),
    *("sinh", "smooth_l1_loss", "softmax", "sort", "sqrt", "square", "stack", "std", "sub", "subtract", "sum"),
    *("take", "take_along_dim", "tan", "tanh", "tensordot", "tile", "topk", "tril", "triu", "true_divide"),
    *("trunc", "unique", "var", "vstack", "where", "xlogy", "zeros_like"),
}
"""Functions and methods of torch that read their arguments, and give back a tensor with memory of its own."""

IN_PLACE = {
    *("add_", "addcdiv_", "addcmul_", "clamp_", "copy_", "div_", "fill_", "index_add_", "index_copy_"),
    *("index_fill_", "lerp_", "masked_fill_", "masked_scatter_", "mul_", "pow_", "scatter_", "scatter_add_"),
    *("sub_",),
}
"""Methods that write what they are called on, and only read their arguments."""

KEEPING = {
    *("append", "appendleft", "extend", "insert", "push", "put", "register_buffer", "setattr", "setdefault"),
    *("update",),
}
"""Methods of containers and modules that keep their argument."""

ALSO_CONTAINERS = {"add", "sort"}
"""Of these, methods of containers too, where they keep their argument."""

READING_BUILTINS = {"abs", "bool", "float", "int", "isinstance", "len", "print", "repr", "round", "str", "type"}

READING_LAYERS = {
    *("BCELoss", "BCEWithLogitsLoss", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d"),
    *("ConvTranspose2d", "ConvTranspose3d", "CosineSimilarity", "CrossEntropyLoss", "Embedding"),
    *("EmbeddingBag", "HuberLoss", "L1Loss", "LayerNorm", "Linear", "MSELoss", "NLLLoss", "SmoothL1Loss"),
}
"""Layers that read what they are given, and return something new."""

QUIET_DECORATORS = {"torch.compile", "torch.compiler.disable", "torch.inference_mode", "torch.no_grad"}
