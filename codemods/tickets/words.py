"""What labels and headings mean. The same words serve tables, lists, bold labels, headings and JSON keys."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LABELS = {
    "id": "id,ticket id,ticket,issue id,finding id,bug id,ticket number,ticket no,issue number,key,tracking id,ref,"
    "identifier,issue key",
    "title": "title,name,headline,short title",
    "severity": "severity,priority,sev,prio,severity level,priority level,criticality,urgency,severity/priority,"
    "priority/severity,original severity,risk level,impact level,how bad is it,how severe is it,"
    "how severe,issue severity,risk rating",
    "revised severity": "revised severity,new severity,adjusted severity,suggested severity,updated severity,"
    "revised priority,new priority,adjusted priority,suggested priority,final severity,final priority,"
    "recommended severity,effective severity,severity after review,severity change,severity adjustment",
    "status": "status,state,ticket status,current status,resolution status",
    "updated": "updated,last updated,date updated,modified,last modified,updated at,updatedat,update date,changed",
    "resolved on": "resolved,resolved on,resolved at,resolved in,resolved by,date resolved,resolution date,"
    "closed,closed on,closed at,closed in,closed by,date closed,"
    "fixed in,fixed by,fixed on,fixed in commit,fix commit,done on",
    "created": "created,date,opened,reported,date created,created at,createdat,filed,reported on",
    "category": "category,categories,type,kind,label,labels,tag,tags,classification,issue type,area,ticket type",
    "file": "file,file name,filename,file path,filepath,path,location,where,affected file,source file,source,"
    "module,affected path,code location,permalink,affected code,affected module,file and line,file/line,"
    "affected location,relevant file,place,file:line,path:line,which file,file & line,file/line number,"
    "location in code",
    "lines": "line,line number,line range,lineno,line no,affected line,lines affected,loc,which line",
    "symbol": "function,function/class,class,class/function,method,function/method,class/method,symbol,"
    "affected function,scope,callable,component,affected symbol,entry point,functions and classes,"
    "function name,affected class,"
    "affected method,where in the code,function or class,method/function",
    "summary": "summary,one-line summary,tl;dr,tldr,synopsis,abstract,in short,short description,overview",
    "verdict": "verdict,decision,outcome,vote,disposition,ruling,conclusion,review verdict,"
    "reviewer verdict,review outcome,assessment",
    "reviewer": "reviewer,reviewed by,by,author,review by,signed,signed off by",
    "assignee": "assignee,assigned to,owner",
}
"""The meaning of a label, and how it is written: in singular, `(s)` and colons dropped."""

PARTS = {
    "metadata": "ticket metadata,metadata,meta,header,details table,ticket,ticket details",
    "location": "location,where,affected code,affected file,code location,affected location,scope,place",
    "category": "category,categories,classification,type,issue type,ticket type",
    "summary": "summary,overview,one-line summary,tl;dr,tldr,synopsis,abstract,in short,short description",
    "problem": "problem,what's wrong,what is wrong,detailed description,description,detail,issue,finding,evidence,"
    "current code,before,current behavior,current behaviour,root cause,background,observed behavior,observed behaviour,"
    "steps to reproduce,problem statement,impact,analysis,symptom,why it matters,current state,offending code,"
    "code,code snippet,observation,actual behavior,actual behaviour,what happens,the problem,bug description,"
    "describe the bug,technical detail,what happened,rationale,reproduction,repro,minimal repro,explanation,cause,"
    "current implementation,what is the current bug behavior,what is the current behavior,current result",
    "fix": "recommended fix,fix,proposed fix,suggested fix,solution,recommendation,remediation,suggestion,patch,"
    "proposed change,how to fix,after,mitigation,proposed solution,suggested change,suggested solution,"
    "recommended change,recommended solution,possible fix,possible solution,the fix,fix option,expected code,"
    "what is the expected correct behavior,what is the expected behavior,"
    "what to do,proposal,suggested remediation,recommended action,action,change,expected behavior,"
    "expected behaviour,workaround,proposed implementation,remedy,option",
    "verification": "verification,how to verify,how to verify the fix,acceptance criterion,acceptance criteria,"
    "definition of done,checklist,test plan,testing,validation,success criterion,success criteria,done when,"
    "execution checklist,verification checklist,how to test,test,verify,proof,verification step,exit criterion,"
    "exit criteria,regression test,suggested test,proposed test,post-fix verification,to verify",
    "review": "review,cross-review,peer review,second opinion,triage,triage note,resolution,outcome,"
    "maintainer response,reviewer note,reviewer comment,"
    "vote,reviewer vote,review vote,closing note,closure,resolution note,"
    "sign-off,assessment,discussion,verdict,adjudication,decision,reviewer verdict,reviewer,comment,panel",
    "evidence": "evidence of the fix",
    "related": "related,related finding,related ticket,related issue,appendix,reference,original report reference,"
    "related file,see also,link,history,changelog,out of scope,additional context,environment,version,"
    "implementation order,dependency,non-goal,glossary,timeline,original report,external reference",
}
"""The part of a ticket that a heading opens."""

ISSUE = re.compile(
    r"(?:issue|finding|bug|problem|defect|ticket|item|task|hotspot|smell|observation|action item)s?\s*[#:.\-]?\s*"
    r"(?P<number>[A-Z]{0,3}-?\d{1,5}(?:\.\d+)?[a-z]?)\b",
    re.IGNORECASE,
)
CODED = re.compile(r"[\[(`]*(?P<id>[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)\b[\])`]*\s*[:.\-\u2013\u2014|]*\s*")
NUMBERED = re.compile(r"[\[(]?(?:#\s*)?(?P<number>\d{1,4}(?:\.\d+)*)[\])]?[.:)\s\-\u2013\u2014]+\s*")
LEVEL = re.compile(r"[\[(]\s*(P[0-5]|critical|high|medium|low|blocker|major|minor)\s*[\])]|(P[0-5])\b", re.IGNORECASE)
PREFIX = re.compile(
    r"(?:finding ticket|ticket|finding|bug report|bug|issue|perf(?:ormance)?|task)"
    r"\s*[:\u2013\u2014-]\s+|\[(?:bug|perf|performance|task|finding)\]\s*:?\s*",
    re.IGNORECASE,
)
MARKS = re.compile(r"^(?:[\s~\u2705\u2611\u2714\ufe0f]|\[[xX ]\])+")
GAP = re.compile(r"^\s*(?:[:.)\]\u2013\u2014-]+(?:\s+|$)|\s)\s*")
TAIL = re.compile(r"\s*(?:[:(\[\u2013\u2014|].*|\s-\s.*)$", re.DOTALL)
EDGES = re.compile(r"^[^\w]+|[^\w]+$")
LATER = re.compile(r"\b(?:triaged|revised|final|adjusted|updated|new|effective|after|agreed)\b", re.IGNORECASE)
SPACES = re.compile(r"[\s_]+")


def spell_out(table: dict[str, str]) -> dict[str, str]:
    return {word: meaning for meaning, words in table.items() for word in words.split(",")}


NAMES = spell_out(LABELS)
OPENS = spell_out(PARTS)


@lru_cache(4096)
def plain_label(text: str) -> str:
    """A label as the tables above write it: no case, markup, colon, number or plural."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold().replace("(s)", "").replace("(es)", "")
    return EDGES.sub("", SPACES.sub(" ", text.replace("*", "").replace("`", ""))).replace(" / ", "/")


def known(text: str, table: dict[str, str]) -> str:
    """What a label means, also in plural."""
    word = plain_label(text)
    singular = re.sub(r"s\b(?=/|$)", "", word)
    return table.get(word) or table.get(singular) or table.get(re.sub("es$", "", word)) or ""


@lru_cache(4096)
def name_of(label: str) -> str:
    """The name of the field that a label labels, or nothing. Long labels are sentences; `Severity (1-5)` is known."""
    if len(label) > 60:
        return ""
    bare, _, aside = label.partition(" (")
    name = known(label, NAMES) or (known(bare, NAMES) if aside.rstrip(" :").endswith(")") else "")
    return "revised severity" if name == "severity" and LATER.search(aside) else name


@lru_cache(4096)
def part_of(title: str) -> str:
    """The part of a ticket that a heading opens, or nothing: then it may be an issue's own title."""
    if len(title) > 120 or ISSUE.match(title):
        return ""
    bare = NUMBERED.sub("", title, count=1) if NUMBERED.match(title) else title
    head = re.sub(r"\s+#?\d+$|\s+[a-e]$", "", TAIL.sub("", bare), flags=re.IGNORECASE)
    part = known(bare, OPENS) or known(head, OPENS)
    return part or ("review" if re.search(r"\breview(?:er|ers|s)?\b", head, re.IGNORECASE) and len(head) < 50 else "")


def is_known(title: str) -> bool:
    """Whether a heading is nothing but the name of a part: `Option 1 - flat keys` says more."""
    return bool(known(title, OPENS))


def unmarked(title: str) -> str:
    """A title without the signs that it is done or struck out."""
    return MARKS.sub("", title).rstrip("~ ")


def bare_title(title: str) -> str:
    """A title without `Finding Ticket:`, its number, id or level in front."""
    for _ in range(4):
        shorter = unmarked(title)
        for pattern in (PREFIX, CODED, NUMBERED):
            if (found := pattern.match(shorter)) and shorter[found.end() :].strip():
                shorter = shorter[found.end() :]
        for pattern in (ISSUE, LEVEL):
            if (found := pattern.match(shorter)) and (rest := GAP.sub("", shorter[found.end() :], count=1)):
                shorter = rest
        if shorter == title:
            break
        title = shorter
    return title.strip()
