"""Calls that are known by name: what they leave alone, what they change, and whose parts they return."""

from __future__ import annotations

PURE_BUILTINS = {
    *(
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
    ),
    *("filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id", "int", "isinstance"),
    *("issubclass", "iter", "len", "list", "map", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed"),
    *("round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip", "bytearray", "memoryview"),
    *("object", "dir", "SystemExit", "KeyboardInterrupt", "StopIteration"),
}
"""They give back what they were asked for; `getattr` and the like are taken as the reads that they look like."""

OUTPUTS = {"print", "input", "open", "breakpoint"}
"""They change nothing of the program, but asking once is not asking twice."""

REFLECTION = {"setattr", "delattr", "exec", "eval", "globals", "locals", "vars", "__import__"}

PURE_MODULES = {
    *("abc", "bisect", "cmath", "collections", "copy", "dataclasses", "decimal", "enum", "fnmatch", "fractions"),
    *("functools", "hashlib", "itertools", "json", "math", "numbers", "operator", "re", "statistics", "string"),
    *("struct", "textwrap", "torch", "typing", "numpy", "contextlib", "einops", "inspect", "types", "pathlib"),
    *("heapq", "difflib", "keyword", "base64", "binascii", "zlib", "unicodedata", "calendar", "argparse", "pytest"),
    "packaging",
}
"""Their functions return something new, unless another table here says otherwise."""

OUTPUT_MODULES = {"logging", "warnings", "time", "datetime", "random", "sys", "os", "secrets", "uuid", "wandb", "tqdm"}
OUTPUT_MODULES |= {"glob", "platform", "shutil", "tempfile", "traceback", "getpass", "pprint"}
"""What they change is not part of the program's own objects; but each call counts."""

CHANGES_ARGUMENT = {
    *("random.shuffle", "heapq.heappush", "heapq.heappop", "heapq.heapify", "heapq.heapreplace", "heapq.heappushpop"),
    *("bisect.insort", "bisect.insort_left", "bisect.insort_right", "numpy.copyto", "numpy.put", "numpy.fill_diagonal"),
    *("operator.setitem", "operator.delitem", "operator.iadd", "numpy.random.shuffle", "numpy.place", "numpy.putmask"),
    *("numpy.add.at", "numpy.subtract.at", "numpy.maximum.at", "numpy.minimum.at"),
}

WRITES_GIVEN = {
    *("all_reduce", "broadcast", "reduce", "recv", "irecv", "scatter", "gather", "all_gather", "reduce_scatter"),
    *("all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "all_reduce_coalesced"),
    *("broadcast_object_list", "all_gather_object", "gather_object", "scatter_object_list", "vector_to_parameters"),
    *("all_gather_coalesced", "broadcast_coalesced", "convert_parameters"),
}
"""Functions of `torch.distributed` and `torch.nn.utils` that write into what they are given."""

UNSETTLED = {
    *(
        "rand",
        "randn",
        "randint",
        "randperm",
        "normal",
        "bernoulli",
        "multinomial",
        "poisson",
        "rand_like",
        "randn_like",
    ),
    *("randint_like", "dropout", "empty", "empty_like", "empty_strided", "manual_seed", "seed", "initial_seed"),
    *("synchronize", "compile", "set_default_dtype", "set_default_device", "set_grad_enabled", "load", "save"),
    *(
        "checkpoint",
        "backward",
        "grad",
        "vmap",
        "cond",
        "while_loop",
        "set_num_threads",
        "set_float32_matmul_precision",
    ),
    *("is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled", "get_default_dtype", "get_default_device"),
    *("get_rng_state", "set_rng_state", "memory_allocated", "memory_reserved", "max_memory_allocated"),
    *("mem_get_info", "memory_stats", "utilization", "gumbel_softmax", "rrelu", "alpha_dropout"),
    *(
        "feature_alpha_dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "get_num_threads",
        "current_stream",
        "current_device",
    ),
}
"""Functions of torch that draw, set, save, run what they are given or ask how torch is set: never a pure read."""

RUNS_ARGUMENT = {"checkpoint", "vmap", "cond", "while_loop", "grad", "backward", "jacobian", "hessian", "vjp", "jvp"}
RUNS_ARGUMENT |= {"hvp", "vhp", "functional_call", "jacrev", "jacfwd", "linearize", "grad_and_value"}
"""Functions of torch that run code of the caller's."""

RUNS_GIVEN = {"raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns"}
RUNS_GIVEN |= {"assertWarnsRegex"}
"""Of pytest and unittest: with more than what is expected they run what they are given."""

LOG_METHODS = {"debug", "info", "warning", "warning_once", "error", "critical", "exception"}

MUTATORS = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft"),
    *("push", "put", "remove", "reverse", "rotate", "setdefault", "sort", "update", "add_module", "register_buffer"),
    *(
        "register_parameter",
        "register_module",
        "load_state_dict",
        "zero_grad",
        "fill",
        "resize",
        "setflags",
        "manual_seed",
    ),
    *("difference_update", "intersection_update", "symmetric_difference_update", "subtract"),
}
"""Methods that change what they are called on, unless the project defines the method."""

ALSO_TENSOR = {"add", "subtract", "put", "reverse", "sort", "resize"}
"""Of these, methods of tensors too, where they return something new."""

READERS = {
    *("abs", "all", "allclose", "amax", "amin", "aminmax", "any", "argmax", "argmin", "argsort", "bfloat16", "bmm"),
    *(
        "bool",
        "ceil",
        "chunk",
        "clamp",
        "clone",
        "contiguous",
        "copy",
        "cos",
        "count",
        "cpu",
        "cuda",
        "cumsum",
        "detach",
    ),
    *("diff", "dim", "div", "double", "element_size", "endswith", "eq", "equal", "exp", "expand", "expand_as", "find"),
    *("flatten", "flip", "float", "floor", "format", "gather", "ge", "get", "get_device", "gt", "half", "index", "int"),
    *(
        "index_select",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "isdigit",
        "isfinite",
        "isinf",
        "isnan",
        "item",
    ),
    *("items", "join", "keys", "le", "log", "log_softmax", "logsumexp", "long", "lower", "lstrip", "lt", "masked_fill"),
    *("masked_select", "matmul", "max", "mean", "median", "min", "mm", "mul", "narrow", "ndimension", "ne", "neg"),
    *("nelement", "new_full", "new_ones", "new_tensor", "new_zeros", "nonzero", "norm", "numel", "numpy", "partition"),
    *(
        "permute",
        "pow",
        "prod",
        "ravel",
        "reciprocal",
        "relu",
        "repeat",
        "replace",
        "reshape",
        "rfind",
        "round",
        "rstrip",
    ),
    *(
        "rsqrt",
        "scatter",
        "select",
        "sigmoid",
        "sign",
        "sin",
        "size",
        "softmax",
        "split",
        "splitlines",
        "sqrt",
        "square",
    ),
    *("squeeze", "startswith", "std", "stride", "strip", "sub", "sum", "t", "tanh", "tile", "title", "to", "tolist"),
    *(
        "topk",
        "transpose",
        "tril",
        "triu",
        "type",
        "type_as",
        "unbind",
        "unique",
        "unsqueeze",
        "upper",
        "values",
        "var",
    ),
    *("view", "view_as", "where", "is_cuda", "data_ptr", "parameters", "named_parameters", "buffers", "named_buffers"),
    *("modules", "named_modules", "children", "named_children", "state_dict", "isdisjoint", "issubset", "issuperset"),
    *(
        "union",
        "intersection",
        "difference",
        "most_common",
        "as_posix",
        "encode",
        "decode",
    ),
    *("casefold", "capitalize", "center", "expandtabs", "fromkeys", "isalnum", "isalpha", "isdecimal", "isidentifier"),
    *("islower", "isnumeric", "isspace", "istitle", "isupper", "ljust", "removeprefix", "removesuffix", "rindex"),
    *("rjust", "rpartition", "rsplit", "swapcase", "translate", "zfill", "maketrans", "format_map", "isascii"),
    *("isprintable", "from_bytes", "to_bytes", "fromhex", "hex", "bit_length", "bit_count", "as_integer_ratio"),
    *("clamp_min", "clamp_max", "clip", "repeat_interleave", "lerp", "log1p", "log2", "log10", "expm1", "cumprod"),
    *("argwhere", "bincount", "addmm", "baddbmm", "outer", "dot", "nan_to_num", "isclose", "floor_divide", "fmod"),
    *("remainder", "logical_and", "logical_or", "logical_not", "logical_xor", "maximum", "minimum", "kthvalue", "roll"),
    *("scatter_add", "index_add", "index_fill", "index_copy", "masked_scatter", "take_along_dim", "diag_embed", "erf"),
    *("logaddexp", "cummax", "cummin", "quantile", "trunc", "log_prob", "entropy", "unflatten", "tensor_split"),
    *("movedim", "moveaxis", "swapaxes", "swapdims", "diagonal", "astype", "pin_memory", "is_pinned", "type_as"),
    *("with_suffix", "with_name", "with_stem", "relative_to", "is_relative_to", "elapsed_time", "storage_offset"),
}
"""Methods of tensors, modules, strings and containers that only read, unless the project defines the method."""

VIEWS = {
    *("view", "view_as", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "expand", "expand_as"),
    *("narrow", "select", "unbind", "chunk", "split", "detach", "t", "contiguous", "to", "cpu", "cuda", "float", "get"),
    *("half", "double", "long", "int", "bool", "values", "items", "keys", "setdefault", "pop", "popitem", "numpy"),
    *("ravel", "type", "type_as", "bfloat16", "parameters", "named_parameters", "buffers", "named_buffers", "modules"),
    *("named_modules", "children", "named_children", "state_dict", "diagonal", "unfold", "real", "imag", "unflatten"),
    *("tensor_split", "movedim", "moveaxis", "swapaxes", "swapdims", "astype", "pin_memory", "log_prob", "entropy"),
}
"""Methods whose result may be, or hold, a part of what they are called on."""

MAKES_NEW = READERS - VIEWS
MAKES_NEW -= {"copy", "union", "intersection", "difference", "most_common", "find", "index", "replace", "partition"}
MAKES_NEW -= {"fromkeys"}
"""Methods whose result shares nothing with what they are called on."""

SHARING = VIEWS | {
    *("as_tensor", "asarray", "from_numpy", "from_dlpack", "frombuffer", "swapaxes", "swapdims", "movedim", "moveaxis"),
    *("adjoint", "tensor_split", "hsplit", "vsplit", "dsplit", "unflatten", "as_strided", "view_as_real", "conj"),
    *("view_as_complex", "broadcast_to", "broadcast_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "meshgrid"),
    *("positive", "resolve_conj", "resolve_neg", "dropout", "unsafe_chunk", "unsafe_split", "einsum"),
}
"""Functions of torch whose result may be, or hold, what they are given."""

PLAIN_TORCH = {"torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"}
"""Where the functions of torch keep nothing of what they are given."""

COLLECTS = {"append", "appendleft", "add", "extend", "extendleft", "insert", "update", "setdefault", "push", "put"}
"""Methods by which a container gets what they are given."""

VIEW_ATTRIBUTES = {"T", "mT", "H", "mH", "data", "real", "imag"}

SAME_ITEMS = {"enumerate", "filter", "iter", "list", "map", "max", "min", "next", "reversed", "sorted", "tuple", "zip"}
SAME_ITEMS |= {"dict", "set", "frozenset", "slice", "memoryview"}
"""Builtins whose result holds items of their arguments."""

ATOMIC = {"int", "float", "bool", "str", "bytes", "complex", "None", "torch.device", "torch.dtype", "torch.Size"}
"""Classes of values that nothing can change."""
