"""Which modules cost nothing to import at the top of a file: they are always there, and mostly loaded already."""

from __future__ import annotations

import sys

SOMETIMES_MISSING = {
    # not on every platform, or not in every build
    *(
        "_winapi",
        "bz2",
        "crypt",
        "curses",
        "dbm",
        "fcntl",
        "grp",
        "lzma",
        "msilib",
        "msvcrt",
        "nis",
        "nt",
        "ossaudiodev",
    ),
    *(
        "posix",
        "pty",
        "pwd",
        "readline",
        "resource",
        "spwd",
        "sqlite3",
        "ssl",
        "syslog",
        "termios",
        "tkinter",
        "turtle",
    ),
    *("tty", "winreg", "winsound", "zoneinfo", "ensurepip", "idlelib", "lib2to3", "venv"),
    # gone since Python 3.12 and 3.13, or new since 3.11
    *("aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "distutils", "imghdr", "imp", "mailcap"),
    *("nntplib", "pipes", "smtpd", "sndhdr", "sunau", "telnetlib", "tomllib", "uu", "xdrlib"),
    # importing them does something
    *("antigravity", "this", "__main__"),
}
LOADED_WITH_TORCH = {
    "torch",
    *(
        f"torch.{name}"
        for name in (
            *("amp", "autograd", "autograd.function", "autograd.functional", "autograd.profiler", "backends"),
            *("backends.cuda", "backends.cudnn", "backends.mps", "compiler", "cuda", "cuda.amp", "cuda.nvtx"),
            *("distributed", "distributions", "distributions.categorical", "distributions.normal", "fft", "func"),
            *("functional", "futures", "fx", "hub", "jit", "library", "linalg", "mps", "multiprocessing", "nested"),
            *("nn", "nn.attention", "nn.functional", "nn.init", "nn.modules", "nn.parallel", "nn.parameter"),
            *("nn.utils", "nn.utils.rnn", "optim", "optim.lr_scheduler", "optim.optimizer", "optim.swa_utils"),
            *("overrides", "profiler", "random", "serialization", "sparse", "special", "types", "utils"),
            *("utils.data", "utils.dlpack", "utils.hooks", "utils.weak", "version", "xpu"),
        )
    ),
}
"""Seen in `sys.modules` after `import torch`, with torch 2.6 and 2.13."""


def is_standard(dotted: str) -> bool:
    """Whether a module is part of every Python, on every platform."""
    top = dotted.partition(".")[0]
    return top in sys.stdlib_module_names and top not in SOMETIMES_MISSING and dotted != "multiprocessing.shared_memory"


def comes_with_torch(dotted: str, names: list[str]) -> bool:
    """Whether `import torch` loads a module, and the submodules of it that are imported by name."""
    if dotted not in LOADED_WITH_TORCH:
        return False
    modules = {name.rpartition(".")[2] for name in LOADED_WITH_TORCH if name.rpartition(".")[0] == dotted}
    return all(name in modules or not may_be_module(dotted, name) for name in names)


def may_be_module(dotted: str, name: str) -> bool:
    """Whether a name may be a submodule that is loaded on demand."""
    return name.startswith("_") or name in ON_DEMAND.get(dotted, ())


ON_DEMAND = {
    "torch": {"contrib", "export", "nativert", "onnx"},
    "torch.backends": {"xeon", "xnnpack"},
    "torch.cuda": {"comm"},
    "torch.distributed": {
        *("argparse_util", "checkpoint", "collective_utils", "debug", "elastic", "fsdp", "launch", "launcher", "nn"),
        *("optim", "pipelining", "rpc", "run", "tensor"),
    },
    "torch.fx": {"annotate", "experimental", "passes"},
    "torch.jit": {"generate_bytecode", "mobile", "quantized", "supported_ops", "unsupported_tensor_ops"},
    "torch.multiprocessing": {"pool", "queue"},
    "torch.nn": {"backends", "cpp"},
    "torch.nn.attention": {"bias", "experimental", "flex_attention", "varlen"},
    "torch.nn.utils": {"prune"},
    "torch.profiler": {"python_tracer"},
    "torch.utils": {
        *("benchmark", "bottleneck", "bundled_inputs", "checkpoint", "cpp_extension", "debug_log", "flop_counter"),
        *("hipify", "jit", "mkldnn", "mobile_optimizer", "model_dump", "model_zoo", "module_tracker"),
        *("serialization", "show_pickle", "tensorboard", "viz"),
    },
}
"""Submodules that `import torch` does not load, by their package."""

NEW_NAMES = {
    "asyncio": {"Runner", "TaskGroup", "timeout"},
    "collections.abc": {"Buffer"},
    "contextlib": {"chdir"},
    "copy": {"replace"},
    "datetime": {"UTC"},
    "enum": {"StrEnum"},
    "hashlib": {"file_digest"},
    "itertools": {"batched"},
    "math": {"cbrt", "exp2", "fma", "sumprod"},
    "operator": {"call"},
    "typing": {
        *("LiteralString", "Never", "NotRequired", "ReadOnly", "Required", "Self", "TypeIs", "TypeVarTuple", "Unpack"),
        *("assert_never", "assert_type", "dataclass_transform", "override", "reveal_type"),
    },
    "warnings": {"deprecated"},
}
"""Names that a module of the standard library has since Python 3.11 or later."""

REPLACED = {
    "sys": {"argv", "displayhook", "excepthook", "last_value", "path", "stderr", "stdin", "stdout"},
    "warnings": {"filters", "showwarning"},
}
"""Names of the standard library that programs bind again: `redirect_stdout` sets `sys.stdout`."""
