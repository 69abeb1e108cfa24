"""What tickets about a codemod's subject speak of. Words choose nothing: they say whether what fires is what is meant.

A codemod may well fire on a line that a ticket names for another reason.
"""

from __future__ import annotations

import re

AUTOCAST = r"autocast|\bamp\b|mixed precision"
COMPILED = r"\bgraphs?\b|compil"


def both(one: str, other: str) -> str:
    """A pattern for a text with both of these in it."""
    return rf"(?s:(?=.*(?:{one}))(?=.*(?:{other})))"


TOPICS: dict[str, tuple[str, str]] = {
    "batch_host_reads": (
        r"\.item\b|\bitem\(\)|\btolist\b|(?:host|device|scalar) reads?|(?:one|each) (?:\w+ )?(?:at a time|by one)|"
        r"\bsyncs?\b|synchroni[sz]|(?:gpu|device)\W{0,4}(?:to)?\W{0,4}(?:cpu|host)",
        r"tolist|batch|once|in one go|together|single|stack|\.cpu\(|vectori[sz]|as tensors?|at the boundary",
    ),
    "sample_timer_sync": (
        both(
            r"timer|clock|timing|\bstop\b|\bintervals?\b|measur", r"synchroni[sz]|\bwaits?\b|\bblock(?:s|ing)\b|\bstall"
        ),
        r"sampl|optional|flag|\bnth\b|every|config|(?:en|dis)abled?|turn (?:it )?off|skip|switch",
    ),
    "skip_redundant_wait_stream": (
        r"wait_stream|redundant (?:wait|sync)|waits? twice|inner wait",
        r"condition|only|\bnot \w+|skip|remove|delete|redundant|drop|guard|flag",
    ),
    "iterate_constant_keys": (
        r"\.keys\(|(?:over|through) (?:an? |the |its )?(?:dict|keys)|dict\w* (?:iteration|comprehension|loop)|"
        r"dynamic (?:iteration|keys)",
        r"constant|static|tuple|\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b",
    ),
    "flatten_tuple_keys": (
        r"(?:pairs?|tuples?)[- ](?:as )?(?:\w+ )?key|key(?:s|ed) (?:by|are|of) (?:\w+ )?(?:pairs?|tuples?)|"
        r"(?:pairs?|tuples?)\b.{0,30}\bkeys?\b|dict\[tuple|tuple\[int",
        r"\bflat|(?:one|single|plain) int|int(?:eger)? keys?|dict\[int|\w ?\* ?\w+ ?\+ ?\w|<<|document|"
        r"compiler\.disable|encode",
    ),
    "hoist_autocast": (
        both(AUTOCAST, r"(?:every|each|per)[- ](?:batch|iteration|step|call)|re-?creat|again|churn|anew|\bonce\b"),
        r"once|outside|before|hoist|flag|reuse|re-?enter|context|decorat|enabled|move|per epoch|per episode",
    ),
    "scope_autocast": (
        both(AUTOCAST, r"\bforward\b|backward|\bcovers?\b|\bscope\b|narrow|region|\bwraps?\b"),
        r"decorat|forward|backward|extend|wrap|scope|region|cover",
    ),
    "warn_on_device_migration": (
        r"migrat|silent\w*|\.to\(|\bmov(?:es?|ed|ing)\b|\bfollows?\b",
        r"warn|strict|raise|announce|\blog\b|tell|say|error|explicit|refuse",
    ),
    "allocate_on_device": (
        r"\.to\(|to-device|(?:on|to) the (?:cpu|gpu)|allocat|\bmove[sd]?\b|\btransfers?\b|\bcopied\b|"
        r"host-to-device|\bh2d\b",
        r"on (?:the )?(?:gpu|device)|\w+_device\b|device=|parameter|"
        r"device`? (?:in|to) (?:the )?(?:constructor|`?__init__)",
    ),
    "disable_compile": (
        both(r"telemetry|debug|diagnos|statistic|stats?\b|metric|report|decorat|\btable\b", COMPILED),
        r"compiler\.disable|decorat|document|guard|exclude|opt(?:s|ed)? out|out of|keep",
    ),
    "isolate_telemetry": (
        both(r"telemetry|\blog(?:s|ged|ging|ger)?\b|\bprint(?:s|ing)?\b|metric|report", COMPILED),
        r"compiler\.disable|move|extract|isolat|function|helper|behind|outside|separate",
    ),
    "use_public_compiler_api": (
        r"deprecat|\bprivate\b|public (?:name|api)|_dynamo|_inductor|cuda\.amp|internal api|removed in",
        r"public|replace|torch\.\w+|\buse\b|rename|new name|import",
    ),
    "cache_loop_queries": (
        r"\bcach(?:e|ed|ing)\b|\basks?\b|\basked\b|\btwice\b|repeated|\bquer(?:y|ies)\b|again and again|"
        r"(?:called|evaluated|computed) (?:\w+ )?(?:twice|times|repeatedly)",
        r"cach|once|hoist|stor|reuse|precompute|answer|variable|keep|kept|local",
    ),
    "hoist_invariant_construction": (
        r"constants?\b.{0,20}\b(?:tensors?|in)\b|rebuil[dt]|register_buffer|(?:in|each|every) (?:the )?`?forward|"
        r"tensors? (?:is |are )?(?:re-?)?(?:made|built|created|constructed|allocated)",
        r"buffer|hoist|once|__init__|constructor|constant|outside|move|precompute|cach",
    ),
    "clone_at_boundary": (
        r"cuda ?graphs?|cudagraph|reduce-overhead|max-autotune|overwrit|outlives?|mark_step|"
        r"(?:kept|keeps?|held|stored?|stores) (?:\w+ ){0,4}(?:beyond|after|across|over)",
        r"\bclon|\bcop(?:y|ies|ied)\b|mark_step|boundary|wrapper|one place|before (?:it is|they are) (?:kept|stored)",
    ),
    "count_compiled_calls": (
        both(
            r"\bcount(?:s|ed|ing|ers?)?\b|how (?:often|many)|call (?:numbers|statistics)|instrument",
            r"compil|\bphases?\b",
        ),
        r"\bcount(?:s|ed|ing|ers?)?\b|instrument|per phase|by phase",
    ),
    "gate_compile": (
        both(r"torch\.?compile|compil", r"\bflags?\b|switch|\bgated?\b|roll(?:ed)? ?(?:out|back)|kill switch|toggle"),
        r"\bflags?\b|switch|\bgates?\b|\benv(?:ironment)?\b|config|toggle|fall ?back|(?:en|dis)abled?",
    ),
    "move_import_to_top": (
        r"\bimport(?:s|ed|ing)?\b",
        r"\btop\b|module[- ](?:level|scope)|move|hoist|\bup\b|global|other imports",
    ),
}
"""For each codemod what its problem is called, and what its remedy."""

OTHER = re.compile(
    r"\btypos?\b|\bdocstrings?\b|\bdoc(?:s|umentation)\b|\bnaming\b|\brename\b|\bstyle\b|\bformatting\b|too long|"
    r"\b(?:no|missing) tests?\b|test coverage|\bflaky\b|type (?:hint|annotation)s?|\blicen[sc]e\b|\bencoding\b|"
    r"\bcircular\b|\brais(?:es|ed|ing)\b|\bfail(?:s|ed|ures?)?\b|\bcrash\w*|\bexceptions?\b|traceback|"
    r"\b\w+Error\b|\bwrong\b|\bincorrect\w*|\bcorrectness\b|\bbug\b|"
    r"off[- ]by[- ]one|shape mismatch|division by|\bnans?\b|overflow|underflow|numerical|"
    r"\brace\b|concurren|dead ?lock|\block(?:s|ing)?\b|\bleaks?\b|memory growth|dead code|\bunused\b|"
    r"never (?:read|used|called)|\bsecur\w+|\bsecrets?\b",
    re.IGNORECASE,
)
"""What tickets speak of that no codemod is for."""

FAILING = re.compile(r"\b\w+Error\b|traceback|\bcrash(?:es|ed)?\b", re.IGNORECASE)
OTHER_REMEDIES: dict[str, str] = {
    "allocate_on_device": r"\bpin(?:ned|_memory)?\b",
    "batch_host_reads": r"\bdim=|\baxis\b",
    "cache_loop_queries": r"\blru_cache\b|\bfunctools\.cache\b",
    "hoist_invariant_construction": r"learn(?:able|ed)|trainable|nn\.Parameter|requires_grad",
    "sample_timer_sync": r"\block\b|\bthread",
    "warn_on_device_migration": r"\bobs(?:ervation)?s?\.to\(|\binputs? to\b",
}
"""What may be proposed for the same code with another aim."""

COMPILING = re.compile(r"torch\.?compile|performance|\bsync|graph|dynamo|\bgpu\b|overhead|slow", re.IGNORECASE)
