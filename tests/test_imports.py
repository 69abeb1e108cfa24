"""What names mean, and where one more import goes."""

from __future__ import annotations

import ast

import pytest

from fullgraph.codemods.imports import insert_import
from fullgraph.codemods.module import Module
from fullgraph.codemods.source import decode, splice_text


def module(text: str, name: str = "pkg.mod", path: str = "pkg/mod.py") -> Module:
    return Module(decode(path, text.encode()), name)


def meaning(text: str, expression: str) -> str | None:
    found = module(f"{text}\n{expression}\n")
    return found.resolve(found.tree.body[-1].value)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("imports", "expression", "expected"),
    [
        ("import torch", "torch.compiler.disable", "torch.compiler.disable"),
        ("import torch as t", "t.compiler.disable", "torch.compiler.disable"),
        ("import torch.nn.functional as F", "F.relu", "torch.nn.functional.relu"),
        ("import torch.nn", "torch.nn.Linear", "torch.nn.Linear"),
        ("from torch import compiler as c", "c.disable", "torch.compiler.disable"),
        ("from . import names", "names.HEADS", "pkg.names.HEADS"),
        ("from ..other import x", "x", "other.x"),
        ("try:\n    import torch\nexcept ImportError:\n    raise", "torch.stack", "torch.stack"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch.stack", None),
        ("import torch\ndef f(torch): pass", "torch.stack", None),
        ("if x:\n    from a import f\nelse:\n    from b import f", "f", None),
        ("", "torch.stack", None),
    ],
)
def test_a_name_means_what_its_only_import_says(imports: str, expression: str, expected: str | None) -> None:
    assert meaning(imports, expression) == expected


def test_a_relative_import_in_a_package_counts_from_the_package() -> None:
    found = module("from .names import HEADS\nHEADS\n", "pkg", "pkg/__init__.py")
    assert found.resolve(found.tree.body[-1].value) == "pkg.names.HEADS"  # type: ignore[attr-defined]


def required(text: str, dotted: str, name: str | None = None) -> tuple[str, str]:
    found = module(text)
    spelling, edits = found.imports.require(dotted, name)
    result = splice_text(text, edits)
    ast.parse(result)
    return spelling, result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\n", "import warnings\n\nimport torch\n"),
        ("import os\n\nimport torch\n", "import os\nimport warnings\n\nimport torch\n"),
        ("import abc\nimport zlib\n", "import abc\nimport warnings\nimport zlib\n"),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport warnings\n\nx = 1\n'),
        (
            "from __future__ import annotations\n\nx = 1\n",
            "from __future__ import annotations\n\nimport warnings\n\nx = 1\n",
        ),
        ("# a comment\nx = 1\n", "# a comment\nimport warnings\n\nx = 1\n"),
        ("import os", "import os\nimport warnings"),
        ("import os\r\nimport torch\r\n", "import os\r\nimport warnings\r\nimport torch\r\n"),
        ("from torch import nn\n", "import warnings\n\nfrom torch import nn\n"),
        ("@decorated\ndef f(): ...\n", "import warnings\n\n@decorated\ndef f(): ...\n"),
        ("", "import warnings\n\n"),
    ],
)
def test_a_new_import_goes_where_it_belongs(before: str, after: str) -> None:
    assert required(before, "warnings") == ("warnings", after)


def test_what_is_imported_already_is_not_imported_again() -> None:
    assert required("import warnings as w\n", "warnings") == ("w", "import warnings as w\n")
    assert required("from pkg.names import HEADS as H\n", "pkg.names", "HEADS")[0] == "H"


def test_a_name_joins_the_import_of_its_module() -> None:
    before = "from pkg.names import (\n    A,  # first\n    B,\n)\n"
    assert required(before, "pkg.names", "C") == ("C", before.replace("B,", "B,\n    C,"))


def test_an_import_in_a_function_is_not_enough() -> None:
    before = "import torch\n\n\ndef f():\n    import warnings\n"
    assert required(before, "warnings")[1].startswith("import warnings\n")


def test_a_project_import_goes_below_the_third_party_ones() -> None:
    before = "import torch\n\nx = 1\n"
    assert required(before, "pkg.names", "HEADS") == ("HEADS", "import torch\n\nfrom pkg.names import HEADS\n\nx = 1\n")


def test_a_module_whose_name_only_begins_the_same_is_another_one() -> None:
    assert required("import warn\n", "warnings")[0] == "warnings"
    assert "import warnings" in required("import warn\n", "warnings")[1]


def test_an_import_that_the_file_binds_otherwise_is_no_spelling() -> None:
    before = "import warnings as w\n\nw = None\n"
    assert required(before, "warnings") == ("warnings", "import warnings as w\nimport warnings\n\nw = None\n")


def test_a_name_does_not_join_an_import_of_everything() -> None:
    before = "from pkg.names import *\n"
    spelling, after = required(before, "pkg.names", "HEADS")
    assert spelling == "HEADS"
    assert sorted(after.splitlines()) == ["from pkg.names import *", "from pkg.names import HEADS"]


def test_an_import_stands_among_the_first_ones_and_not_behind_code() -> None:
    before = "import os\n\nx = 1\n\nimport zlib\n"
    assert required(before, "warnings")[1] == "import os\nimport warnings\n\nx = 1\n\nimport zlib\n"


def test_an_import_goes_above_all_decorators_of_the_first_function() -> None:
    before = "@first\n@second\ndef f(): ...\n"
    assert required(before, "warnings")[1] == f"import warnings\n\n{before}"


SETUP = [
    'os.environ["A"] = "1"',
    'os.environ.setdefault("A", "1")',
    'del os.environ["A"]',
    'os.environ |= {"A": "1"}',
    'if "A" not in os.environ:\n    os.environ["A"] = "1"',
    'sys.path.insert(0, "src")',
    "ROOT = Path(__file__).parent\nsys.path.append(str(ROOT))",
    "warnings.filterwarnings('ignore')",
    "logging.basicConfig(level=10)",
    'multiprocessing.set_start_method("spawn")',
    'matplotlib.use("Agg")',
    "torch.set_float32_matmul_precision('high')",
    "torch.backends.cudnn.benchmark = True",
    "load_dotenv()",
]
NEEDED = "import os\nimport sys\nimport logging\nimport multiprocessing\nimport warnings\nfrom pathlib import Path\n\n"
NEEDED += "import matplotlib\nimport torch\nfrom dotenv import load_dotenv\n\n"


@pytest.mark.parametrize("setup", SETUP)
def test_an_import_goes_below_what_must_run_first(setup: str) -> None:
    for below in ("", "import numpy\n\n", "from pkg.other import x\n\n"):
        before = f"{NEEDED}{setup}\n\n{below}\ndef f(): ...\n"
        after = required(before, "pkg.names", "HEADS")[1]
        assert setup in after.partition("from pkg.names import HEADS\n")[0]
        assert after.replace("from pkg.names import HEADS\n", "").split() == before.split()


def test_an_import_of_the_standard_library_needs_no_setup() -> None:
    before = "import os\n\nos.environ['A'] = '1'\n\nimport torch\n"
    assert required(before, "warnings")[1].startswith("import os\nimport warnings\n")


@pytest.mark.parametrize(
    "between", ["x = 1", "logger = logging.getLogger(__name__)", "parser = make()\nparser.add('a')"]
)
def test_what_sets_up_nothing_stays_below_the_imports(between: str) -> None:
    before = f"import logging\n\nimport torch\n\n{between}\n\n\ndef f(): ...\n"
    assert required(before, "pkg.names", "HEADS")[1] == before.replace(
        "import torch\n", "import torch\n\nfrom pkg.names import HEADS\n"
    )


def test_an_import_below_others_that_linters_are_told_to_leave_alone_tells_them_too() -> None:
    before = "import os\n\nos.environ['A'] = '1'\n\nimport torch  # noqa: E402\n\nfrom pkg.a import b  # noqa: E402\n"
    assert required(before, "pkg.names", "HEADS")[1].endswith("from pkg.names import HEADS  # noqa: E402\n")


def test_an_import_joins_those_of_its_kind_above_a_setting() -> None:
    before = "import torch\n\nfrom pkg.a import b\n\ntorch.set_num_threads(1)\n\n\ndef f(): ...\n"
    after = before.replace("import b\n", "import b\nfrom pkg.names import HEADS\n")
    assert required(before, "pkg.names", "HEADS")[1] == after


def test_an_import_goes_above_the_first_use_of_its_name() -> None:
    text = "import os\nimport torch\n\nnet = torch.compile(f)\nos.environ['A'] = '1'\nimport numpy\n"
    found = module(text)
    edit = insert_import(found, "from pkg.names import HEADS", "pkg.names", before=text.index("net"))
    assert splice_text(text, [edit]).startswith("import os\nimport torch\n\nfrom pkg.names import HEADS\n\nnet")
