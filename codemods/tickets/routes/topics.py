"""What tickets about a codemod's subject speak of. Words choose nothing: they say whether what fires is what is meant.

A codemod may well fire on a line that a ticket names for another reason. So each has three sets of words: the things
that it is about, what is wrong with them, and what is to be done. Most are made from ideas that many reviews share.
"""

from __future__ import annotations

from typing import NamedTuple

REPEATED = (
    r"\b(?:each|every|per|any)\b|\bagain\b|\btwice\b|\btwo times\b|\bboth\b|repeat|duplicat|over and over|\banew\b|"
    r"\bre-?(?:creat|comput|evaluat|mak|buil|construct|instantiat|allocat|enter|ask|defin|quer|test|check)\w*|whenever|"
    r"\b(?:inner|hot|tight|batch|training)[ -](?:loop|path)|loop-|\b(?:in|inside|within) (?:the|a|its|this|"
    r"each) (?:\w+ )?loop|invariant|"
    r"(?:never|not|cannot|neither) (?:\w+ ){0,2}(?:chang|var|differ)\w*|always the same|redundan|needless|unnecessar|"
    r"(?:many|several|multiple) times|second time|double|churn|\d+ times|on the fly|\bfixed\b|\bonce\b|hard-?coded|"
    r"thousands|\bin (?:\w+ )?loops?\b|superfluous|already|before the loop|pointless|useless|for nothing"
)
WAITING = (
    r"\bsyncs?\b|synchroni[sz]|\bstall|\bblock(?:ed|ing)\b|"
    r"(?:\bnot|\bto|\bwill|\bwould|\bmay|\bcan|\bcould|\)) block\b|"
    r"\bblocks (?!of\b|are\b|in\b|with\b|that\b)|\bwait(?:s|ed|ing)?\b|\bdrain|\bidle|round[ -]?trips?|"
    r"(?:host|device|scalar) reads?|\bd2h\b|materiali[sz]|seriali[sz]|(?:gpu|device|cuda)\W{0,4}(?:to|"
    r"->)?\W{0,4}(?:cpu|host)|"
    r"one (?:\w+ ){0,2}(?:at a time|by one)|individual|separate|element[ -]by[ -]element|one after (?:the other|"
    r"another)|"
    r"\bhalts?\b|\bpauses?\b|catch(?:es)? up|caught up|flush|latency|pipeline|"
    r"scalar (?:access|extract|fetch|transfer|convers)|single (?:scalar|int|float|number|value)s?\b|"
    r"bubbles?\b"
)
COPYING = (
    r"\bupload|\bpci-?e?\b|\bh2d\b|host\W{0,4}(?:to)?\W{0,4}(?:device|gpu)|traffic|\bbus\b|cpu\W{0,4}(?:to|"
    r"->)?\W{0,4}(?:gpu|device|cuda)|\btransfer|"
    r"\bcop(?:y|ies|ied|ying)\b|\bships?\b|\bmov(?:es?|ed|ing)\b|\.to\(|bandwidth|to-device|host memory|\bsends?\b|"
    r"\bpush|allocat|travel|"
    r"(?:ma[dk]e|creat\w+|liv\w+|stor\w+|sit\w*|kept|built|buffers?|tensors?) (?:\w+ )?(?:on|in) (?:the )?(?:cpu|"
    r"host|ram|system)|"
    r"stream(?:s|ed) (?:over|to)"
)
SILENT = (
    r"silent|quiet|without (?:\w+ ){0,2}(?:telling|warning|message|notice|word|log|saying)|"
    r"\bno (?:\w+ ){0,2}(?:warning|message|"
    r"notice|log|hint|indication)|behind \w+ (?:\w+ )?back|implicit|unnotic|\bhid(?:es?|den)\b|paper\w* over|"
    r"\bauto(?:matic(?:ally)?)?\b|auto-|nobody (?:is told|notices|knows)|invisibl|under the hood|masks?\b|sneak"
)
MOVING = (
    r"migrat|relocat|\bhops?\b|\bmov(?:es?|ed|ing)\b|\bfollow|\.to\(|(?:chang|switch)\w* (?:\w+ ){0,2}device|"
    r"device (?:mismatch|chang|switch|mov)|other device|mutates? itself|wander|\bdrag|\bcarr(?:y|ies|ied)\b|"
    r"\bshift|travel|"
    r"\bjump|surpris"
)
COMPILED = r"\bgraphs?\b|compil|dynamo|\btrac(?:e|ed|ing)\b|inductor"
BREAKING = (
    r"\bbreak|\bbroken\b|\bsplits?\b|\binterrupt|fullgraph|\bgraphs?\b|dynamo|\btrac(?:e|ed|ing)\b|"
    r"(?:inside|within|from|into|out of|by|under) (?:\w+ ){0,2}compil\w*|"
    r"compil\w* (?:code|regions?|functions?|steps?|graphs?)\b"
)
AUTOCAST = r"autocast|\bamp\b|(?:mixed|half|lower|reduced)[ -]precision|precision|\bfp16\b|float16|bf(?:loat)?16"
TELEMETRY = (
    r"telemetry|debug|diagnos|statistic|stats?\b|metric|\breport|\btables?\b|histogram|summar|instrument|"
    r"\blog(?:s|ged|ging|ger)?\b|\bprint(?:s|ed|ing)?\b|monitor|\bdump|inspect"
)
EARLIER = (
    r"once|outside|before (?:\w+ ){0,3}(?:loop|entering|epoch|training|batch|iterat)|hoist|ahead|in advance|"
    r"up[ -]?front|"
    r"precomput|out of (?:the|its) \w*\s?loop|above the loop|at (?:the )?(?:start|beginning)|per (?:epoch|episode|run)|"
    r"\blift|pull\w* (?:\w+ ){0,2}out|decid|re-?us|constructor|__init__"
)
KEPT = r"\bcach|remember|\bstor|\bre-?us|\bkeep|\bkept|\bsav(?:e|ed|ing)\b|variable|\blocal\b|memo|\bbind|assign"


class Topic(NamedTuple):
    """The words of one codemod: the things it is about, what is wrong with them, and what is done about it."""

    things: str
    complaint: str
    remedy: str
    hint: str = r"(?!)"
    """What is a complaint only in a ticket that asks for the remedy."""


TOPICS: dict[str, Topic] = {
    "batch_host_reads": Topic(
        r"\.item\b|\bitem\(\)|\btolist\b|scalar|number|\bfloats?\b|\bints?\b|\bvalues?\b|tensor|metric|loss|\bmin|"
        r"\bmax|sync|memcpy|\bd(?:2|to)h\b",
        rf"{WAITING}|(?:\.item|item\(\)|\btolist)\b[^.!?]{{0,60}}\b(?:each|every|per)\b|"
        r"\b(?:one|an?|each|every|per)\b[^.!?]{0,40}(?:\.item|item\(\)|\btolist)\b",
        r"tolist|\bbatch|at once|\bread\w*\b[^.]{0,30}\bonce\b|in one go|together|joint|\bstack|\.cpu\(|"
        r"vectori[sz]|as tensors?|boundary|aminmax|"
        r"(?:one|an?|single) (?:\w+ )?(?:read|transfer|sync|copy|call|fetch|trip)|\blists?\b|\bbulk|whole tensor|"
        r"(?:before|outside|after) the loop|keep\w* .{0,30}(?:gpu|device|tensor)|combin|single (?:time|call)|"
        r"up[ -]?front|gather|collect|concat|one tensor",
    ),
    "sample_timer_sync": Topic(
        r"timer|(?:stop)?watch|clock|timing|\bstop\b|\bintervals?\b|measur|\blaps?\b|elapsed|perf_counter|profil",
        WAITING,
        r"sampl|\bone (?:\w+ )?in \w+|option|\bflags?\b|\d(?:th|nd|rd)\b|\bnth\b|every|config|(?:en|dis)abl|"
        r"\boff\b|skip|switch|\bonly (?:if|when)",
    ),
    "skip_redundant_wait_stream": Topic(
        r"wait_stream|\bwaits?\b|streams?\b|synchroni[sz]",
        REPEATED,
        r"condition|\bonly (?:if|when|where|for)|\b(?:if|when|while|by|with) not \w+|\bnot \w+_\w+|"
        r"skip|remov|delet|redundan|drop|guard|\bflags?\b|unless|"
        r"unnecessar|superfluous",
    ),
    "iterate_constant_keys": Topic(
        r"\.keys\(|\bdict|\bkeys?\b|mapping",
        r"\.keys\(|iterat|\bloop|contents|\border\b|dynamic|comprehension|data-dependent|walk|insertion|reorder",
        r"constant|\bstatic|\btuple|(?-i:\b[A-Z][A-Z0-9]{3,}(?:_[A-Z0-9]+)*\b)|import time|known (?:names|keys|"
        r"set)|fixed",
    ),
    "flatten_tuple_keys": Topic(
        r"\bdict|\bkey(?:s|ed)?\b|mapping|index",
        r"\bpairs?\b|\btuples?\b|tuple\[int|\(\w+, ?\w+\)|two-element|composite",
        r"\bflat|(?:one|single|plain) int|int(?:eger)? keys?|dict\[int|\w ?\* ?\w+ ?\+ ?\w|<<|document|"
        r"compiler\.disable|"
        r"\bencod|scalar|combin|\bpack",
    ),
    "hoist_autocast": Topic(AUTOCAST, REPEATED, rf"{EARLIER}|\bflag|re-?enter|context once|decorat|\benabled"),
    "scope_autocast": Topic(
        AUTOCAST,
        r"\bcover|\bscope|narrow|region|\bwrap|call ?site|external|\bends?\b|whoever",
        r"decorat|\bforward\b|backward|extend|\bwrap|\bscope|region|\bcover|includ|(?:with|in|of|by) the (?:net|"
        r"model|module)",
        r"\bforward\b|backward|\bcaller",
    ),
    "warn_on_device_migration": Topic(
        rf"device|\bcpu\b|\bgpu\b|cuda|{MOVING}",
        SILENT,
        r"\bwarn|\bstrict|\brais|announc|\blog\b|\btell|\bsay|\berror|explicit|refus|notify|message|complain|"
        r"inform|reject",
        MOVING,
    ),
    "allocate_on_device": Topic(
        r"device|\bcpu\b|\bgpu\b|cuda|\.to\(|accelerator|\bram\b|\bpci-?e?\b|storage|buffers?\b",
        COPYING,
        r"\w+_device\b|device=|(?:allocat|creat|mak|made|keep|kept|\bliv|\bput|\bhold|\bheld|\bsit|stor|plac|"
        r"resid|stay|build|built|construct)\w*\b.{0,60}\b(?:gpu|device|vram|accelerator|cuda|there|card)\b|"
        r"device`? (?:parameter|argument)|"
        r"(?:resid|liv|sit|stay)\w* (?:on|in|there)|device`? (?:in|to) (?:the )?(?:constructor|`?__init__)",
    ),
    "disable_compile": Topic(
        rf"{TELEMETRY}|decorat",
        BREAKING,
        r"compiler\.disable|decorat|document|exclud|\bopt(?:s|ed|ing)?\b.{0,40}\bout\b|out of|keep|guard|never be|"
        r"\bmark|outside|ignor|hide|skip",
        COMPILED,
    ),
    "check_without_branch": Topic(
        r"\braises?\b|\bassert|\bvalidat|\bchecks?\b|\bexception|ValueError|sanity",
        rf"{BREAKING}|{WAITING}|data[ -]dependent",
        r"_assert_async|torch\._check|is_compiling|\bassert|\bguard|\bmov|outside|keep|inside the graph|"
        r"without (?:a )?branch",
        COMPILED,
    ),
    "isolate_telemetry": Topic(
        TELEMETRY,
        BREAKING,
        r"compiler\.disable|\bmov|extract|isolat|function|helper|behind|outside|separat|\bpull|\bout\b|"
        r"does not (?:look|see)|hide|factor",
        COMPILED,
    ),
    "keep_scalars_in_graph": Topic(
        r"\.item\b|\bitem\(\)|\bnonzero\b|\bmask|boolean index|\bscalars?\b|data-dependent|dynamic shape",
        BREAKING,
        r"torch\.where|\bdetach|as (?:a )?tensors?\b|0-d|fixed shape|static shape|mask(?:ed_fill|ing)|"
        r"stay\w* (?:on|in)|keep\w* .{0,30}(?:tensor|graph)|without (?:\.item|reading)|"
        r"python (?:list|ints?|values?|numbers?)",
        COMPILED,
    ),
    "log_without_break": Topic(
        r"\blog(?:s|ged|ger|ging)?\b|\bprint|\bwarn|message|warnings\.warn|\w+_once\b",
        BREAKING,
        r"\bkeep|\bkept|operator|custom[_ ]op|without (?:a |the )?(?:graph )?break|once|trace time|"
        r"assume_constant_result|reorder|defer|behind|after the graph|\bmov|\bgraph[- ](?:safe|friendly)|"
        r"traceable|remov|ignor",
        COMPILED,
    ),
    "use_public_compiler_api": Topic(
        r"torch|\bamp\b|dynamo|compil|autocast|scaler|_dynamo",
        r"deprecat|\bprivate\b|public|internal|removed in|FutureWarning|\bold\b|legacy|supported|obsolete|underscore|"
        r"unstable|unofficial",
        r"public|replac|torch\.(?:amp|compiler|jit)\b|\bnew(?:er)? (?:\w+ )?(?:name|api|spelling|location|form)|"
        r"supported|device-agnostic|"
        r"official|migrat|stable|modern|non-deprecated|equivalent|current",
        r"_dynamo|_inductor|cuda\.amp",
    ),
    "cache_loop_queries": Topic(
        r"evaluat|\bcall|\bask|comput|\bquer|\bcheck|\blook|classif|\btest|invok|fetch|execut|predicate|result|"
        r"determin",
        r"\btwice|repeat|\bquer(?:y|ies)\b|again|(?:two|several|multiple|many|\d+) times|\bboth\b|duplicat|"
        r"double|second|"
        r"re-?(?:evaluat|comput|ask|check|test)|\basks?\b|\basked\b",
        rf"{KEPT}|(?:ask|call|evaluat|comput|quer|read|look)\w*\b[^.]{{0,30}}\bonce\b|hoist|precomput|\banswer|"
        rf"\belse\b|\belif\b|first (?:result|loop|pass)|single|one (?:call|pass)|merge",
    ),
    "hoist_invariant_construction": Topic(
        r"tensor|constant|(?:nested|inner|local) function|functions? (?:object|defined|is (?:built|defined|made))|"
        r"lambda|closure|kernel|coefficient|\bmask|partial|regex|pattern|buffer|\bliteral",
        rf"{REPEATED}|(?:in|inside|within) (?:the )?`?(?:\w+\.)?forward|\bbuil[dt]\w*|register_buffer|nested|"
        rf"\bconstruct(?:s|ed|ing)\b",
        rf"buffer|__init__|constructor|constant|\bmodule|\bmove|{EARLIER}|\bcach",
    ),
    "clone_at_boundary": Topic(
        r"cuda ?-?graphs?|cudagraph|reduce-overhead|max-autotune|mark_step|compil|output|static memory|\bnet\b|buffer",
        r"overwrit|\bwrit\w+ over|outliv|clobber|\balias|cuda ?-?graphs?|cudagraph|mark[-_ ]step|step mark|corrupt|"
        r"stale|reduce-overhead|(?:kept|keeps?|held|stored?|stores|holds?|retain\w*|surviv\w*|lives?) (?:\w+ ){0,4}"
        r"(?:beyond|after|across|over|on)|next (?:call|replay|run|step)",
        r"\bclon|\bcop(?:y|ies|ied)\b|mark[-_ ]step|step mark|boundary|wrapper|one place|"
        r"before (?:it is|they are) (?:kept|stored)|detach",
    ),
    "compile_setting": Topic(
        r"capture_\w+|config|setting|\.item\b|item\(\)|nonzero|\bmask|masked_select|\bunique\b|dynamic shape|"
        r"data-dependent|scalar|\bsizes?\b",
        BREAKING,
        r"capture_(?:scalar_outputs|dynamic_output_shape_ops)|reorderable_logging|_dynamo\.config|mark_dynamic|"
        r"\bsettings?\b|\bconfig",
        COMPILED,
    ),
    "count_compiled_calls": Topic(
        r"compil|torch\.compile|\bphases?\b|callable|\bnet\b",
        r"\bcount(?:s|ed|ing|ers?)?\b|how (?:often|many|frequent)|call (?:numbers|statistics)|instrument|not know|"
        r"no idea|visib",
        r"\bcount(?:s|ed|ing|ers?)?\b|instrument|per phase|by phase|tally|record how",
    ),
    "gate_compile": Topic(
        r"torch\.?compile|compil|inductor",
        r"\bflags?\b|\b(?:a|off|kill|the) switch|switch\w* (?:\w+ )?off|\bgated?\b|roll(?:ed)? ?(?:out|back)|knob|"
        r"toggle|unconditional|\bno (?:\w+ )?(?:way|setting|option|means)|turn\w* (?:\w+ )?off|"
        r"opt out|opt-out|hard-?wired|whatever happens",
        r"\bflags?\b|\b(?:a|off|kill|the) switch|switch\w* (?:\w+ )?off|\bgates?\b|\benv(?:ironment)?\b|config|"
        r"toggle|fall ?back|(?:en|dis)abled?|option",
        r"\balways\b|disabl",
    ),
    "select_without_branch": Topic(
        r"\bif\b|\bbranch|condition|ternary|control[ -]flow|data[ -]dependent|torch\.where|torch\.cond",
        rf"{BREAKING}|data[ -]dependent|control[ -]flow|\bbranch",
        r"torch\.(?:where|cond)|\bwhere\(|\bselect|branch(?:less|-free)|without (?:a |the )?branch|\bmask",
        r"\bbranch|\bif\b",
    ),
    "move_import_to_top": Topic(
        r"\bimport(?:s|ed|ing)?\b",
        r"\bimport(?:s|ed|ing)?\b[^.!?]{0,40}\b(?:in|inside|within|at|every|each|per|outside|lazi\w+|local\w*|again|body|"
        r"runs?|execut\w+)\b|"
        r"\b(?:inline|lazy|local|nested|inner|deferred|late|repeated|function[- ](?:level|local|scope)) imports?\b|"
        r"top-?level",
        r"\btop\b|module[- ](?:level|scope)|\bmove|hoist|\bup\b|global|(?:other|rest of the) imports|\bhead\b|"
        r"(?:plac|\bput)\w*\b.{0,40}\b(?:rest|others?|file)\b",
        r"\bimport(?:s|ed|ing)?\b",
    ),
}

OTHER = (
    r"\btypos?\b|\bdocstrings?\b|\bdoc(?:s|umentation)\b|\bnaming\b|\brename\b|\bstyle\b|\bformatting\b|too long|"
    r"\b(?:no|missing) tests?\b|test coverage|\bflaky\b|type (?:hint|annotation)s?|\blicen[sc]e\b|\bencoding\b|"
    r"\bcircular\b|\brais(?:es|ed|ing)\b|\bfail(?:s|ed|ures?)?\b|\bcrash\w*|\bexceptions?\b|traceback|"
    r"\b\w+Error\b|\bwrong\b|\bincorrect\w*|\bcorrectness\b|\bbug\b|shape mismatch|division by|numerical|memory growth|"
    r"dead code|\bunused\b|never (?:read|used|called)|\bsecur\w+|\bsecrets?\b"
)
"""What the headlines of tickets speak of that no codemod is for."""

ELSEWHERE = (
    r"\b\w+Error\b|traceback|\bcrash(?:es|ed)?\b|thread[- ]?safe|concurren|\brace\b|\braces\b|\brac(?:y|ing)\b|"
    r"dead ?lock|"
    r"\block(?:s|ed|ing)?\b|\bleak|\bnans?\b|overflow|underflow|explod|off[- ]by[- ]one|double[- ]count|\bbiase[sd]\b|"
    r"\bnot installed\b|state[_ ]dict|reproducib|\bseeds?\b|converge"
)
"""What a ticket that speaks of it anywhere is about, unless it proposes what the codemod does."""

IN_ONE_GRAPH = r"without (?:a |the |any )?(?:graph[ -])?break|(?:in|inside|part of) the graph"

OTHER_REMEDIES: dict[str, str] = {
    "allocate_on_device": r"\bpin(?:ned|_memory)?\b",
    "batch_host_reads": r"\bdim=|\baxis\b",
    "cache_loop_queries": r"\blru_cache\b|\bfunctools\.cache\b",
    "disable_compile": IN_ONE_GRAPH,
    "hoist_invariant_construction": r"learn(?:able|ed)|trainable|nn\.Parameter|requires_grad",
    "isolate_telemetry": IN_ONE_GRAPH,
    "sample_timer_sync": r"\block\b|\bthread",
    "warn_on_device_migration": r"\bobs(?:ervation)?s?\.to\(|\binputs? to\b",
}
"""What may be proposed for the same code with another aim."""

SLOW = r"\bslow|overhead|hot ?spot|throughput|starv|latenc|\bperf(?:ormance)?\b|bottleneck|expensive|\bstall"
"""What a headline says that tells of time, and not of what takes it."""

COMPILING = r"torch\.?compile|performance|\bsync|graph|dynamo|\bgpu\b|overhead|slow"
