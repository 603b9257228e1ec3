"""Turns a closed question into the statement that a yes asserts and the statement that a no asserts.

Each rule is a pattern over the question without its question mark, and the two statements as templates over the
pattern's groups. The two differ by one word of negation and share everything else, so that length and syntax match.
The first rule that fits is taken. A question that no rule fits has no pair: it is counted, never guessed at.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementPair:
    """What a yes asserts (`affirmative`), what a no asserts (`negative`), and the name of the rule that made them."""

    rule: str
    affirmative: str
    negative: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, matched against the whole question without regard to case, and the templates of the two statements."""

    name: str
    pattern: re.Pattern[str]
    affirmative: str
    negative: str


# Words with which what is said of a subject begins: "is the heart | enlarged", "are both kidneys | in view".
_PREDICATES = (
    "able|abnormal|abnormally|adequate|affected|all|also|altered|applied|appropriately|atrophied|backwards|best|big"
    "|bilateral|blunted|broken|calcified|causing|cirrhotic|clear|clearly|complex|compressed|compressing|confined"
    "|contrast-enhancing|cystic|depicted|deviated|difficult|dilated|displaced|displayed|distended|easily|edematous"
    "|encompassed|encompassing|engorged|enhanced|enhancing|enlarged|enough|equivalent|evident|filled|flat|flattened"
    "|fractured|given|greater|growing|healthy|hemorrhagic|heterogenous|higher|highlighted|homogeneous|homogenous"
    "|hyper|hyperdense|hyperinflated|identifiable|identified|increased|indicative|infarcted|infiltrating|inflamed"
    "|inflammed|intubated|involved|irregular|ischemic|lacerated|large|larger|less|loculated|lying|midline|more"
    "|non-enlarged|normal|noted|obscured|observed|obstructed|obvious|open|oriented|patent|pathologic|perforated"
    "|positioned|possible|present|preserved|prominently|properly|pushing|recognizable|ring|ring-enhancing|rotated"
    "|ruptured|safe|seen|selected|sharp|shifted|showing|shown|shrunk|small|small/stretched|smaller|sufficient"
    "|suggestive|surrounding|swollen|symmetric|symmetrical|taken|thickened|too|transverse|unaltered|underexposed"
    "|uniform|used|varied|viewed|visible|visualized|wedge-shaped|well|well-defined|wide|widened|wider|wrong"
)
_PHRASES = "at its|in the axial|in the transverse|in the wrong|located|of normal|only|within"
_PLACES = "in|of"
_SEEN = "depicted|evident|identifiable|noted|obvious|present|recognizable|seen|shown|visible|visualized"
_VERBS = (
    "affect|appear|cause|constitute|contain|demonstrate|depict|display|enhance|exceed|extend|have|hi-light"
    "|highlight|include|ingest|involve|likely|look|originate|receive|recommend|represent|see|seem|show|suspect"
    "|sustain|use"
)
_MODAL_VERBS = "be|cause|detect|evaluate|get|highlight"
_PARTICIPLES = "been|collapsed|crossed|herniated|perforated|shifted"


def _rule(name: str, pattern: str, affirmative: str, negative: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), affirmative, negative)


_BE = r"(?P<be>is|are|was|were)"
_NO_PREPOSITION = "".join(rf"(?<! {word})" for word in ("at", "for", "from", "in", "of", "on"))
_SUBJECT = r"(?:the |these |both )\S.*?|(?!(?:the|these|both|it) )\S.*?"
_RULES = (
    _rule(
        "negated_existence",
        r"(?P<be>is|are) there no (?P<what>.+)",
        r"there \g<be> no \g<what>",
        r"there \g<be> \g<what>",
    ),
    _rule(
        "something",
        r"(?:is )?(?:there )?anything (?P<what>.+)",
        r"there is something \g<what>",
        r"there is nothing \g<what>",
    ),
    _rule(
        "quantity",
        r"(?P<be>is|are) there (?P<what>(?:[<>]|\d|more th|at least|normal number|lungs|adequate|good).*)",
        r"there \g<be> \g<what>",
        r"there \g<be> not \g<what>",
    ),
    _rule(
        "existence_with_article",
        r"is there (?P<article>an?) (?P<what>.+)",
        r"there is \g<article> \g<what>",
        r"there is no \g<what>",
    ),
    _rule(
        "existence",
        r"(?P<be>is|are) there (?:any )?(?P<what>.+)",
        r"there \g<be> \g<what>",
        r"there \g<be> no \g<what>",
    ),
    _rule(
        "short_existence",
        r"(?:notice any|any|(?=evidence of)) ?(?P<what>.+)",
        r"there is \g<what>",
        r"there is no \g<what>",
    ),
    _rule(
        "presence_with_article",
        rf"is (?P<article>an?) (?P<what>\S.*?) (?P<how>(?:{_SEEN})\b.*)",
        r"\g<article> \g<what> is \g<how>",
        r"no \g<what> is \g<how>",
    ),
    _rule(
        "any_of",
        rf"{_BE} any of (?P<what>\S.*?) (?P<how>(?:{_PREDICATES}|{_SEEN})\b.*)",
        r"some of \g<what> \g<be> \g<how>",
        r"none of \g<what> \g<be> \g<how>",
    ),
    _rule(
        "presence_of_any",
        rf"{_BE} any (?P<what>\S.*?) (?P<how>(?:{_PREDICATES}|{_SEEN})\b.*)",
        r"some \g<what> \g<be> \g<how>",
        r"no \g<what> \g<be> \g<how>",
    ),
    _rule(
        "this_is",
        rf"{_BE} (?P<subject>this|these|it) (?P<what>(?:an?|the|in|of|confirmed|consistent|coronal|difficult|heart|normal|possible)\b.+)",
        r"\g<subject> \g<be> \g<what>",
        r"\g<subject> \g<be> not \g<what>",
    ),
    _rule(
        "subject_is_noun",
        rf"{_BE} (?P<subject>(?:the|this|a) \S.*?){_NO_PREPOSITION} (?P<what>(?:an?|this|the same|the first) .+)",
        r"\g<subject> \g<be> \g<what>",
        r"\g<subject> \g<be> not \g<what>",
    ),
    _rule(
        "subject_with_place_is",
        rf"{_BE} (?P<subject>\S.*? (?:in|surrounding) (?:this|the) \S+) (?P<what>(?:{_PREDICATES}))",
        r"\g<subject> \g<be> \g<what>",
        r"\g<subject> \g<be> not \g<what>",
    ),
    _rule(
        "subject_is",
        rf"{_BE} (?P<subject>{_SUBJECT}) (?P<what>(?:{_PREDICATES}|{_SEEN}|{_PHRASES})(?!\S).*)",
        r"\g<subject> \g<be> \g<what>",
        r"\g<subject> \g<be> not \g<what>",
    ),
    _rule(
        "subject_is_somewhere",
        rf"{_BE} (?P<subject>(?:the |this |both )\S+(?: \S+)?) (?P<what>(?:{_PLACES})(?!\S).*)",
        r"\g<subject> \g<be> \g<what>",
        r"\g<subject> \g<be> not \g<what>",
    ),
    _rule(
        "subject_does",
        rf"(?P<do>do|does|did) (?P<subject>\S.*?) (?P<what>(?:{_VERBS})(?!\S).*)",
        r"\g<subject> \g<do> \g<what>",
        r"\g<subject> \g<do> not \g<what>",
    ),
    _rule(
        "observer_can",
        r"can (?P<subject>you) (?P<what>.+)",
        r"\g<subject> can \g<what>",
        r"\g<subject> cannot \g<what>",
    ),
    _rule(
        "subject_can",
        rf"can (?P<subject>\S.*?) (?P<what>(?:{_MODAL_VERBS})(?!\S).*)",
        r"\g<subject> can \g<what>",
        r"\g<subject> cannot \g<what>",
    ),
    _rule(
        "subject_has",
        rf"(?P<have>has|have) (?P<subject>\S.*?) (?P<what>(?:{_PARTICIPLES})(?!\S).*)",
        r"\g<subject> \g<have> \g<what>",
        r"\g<subject> \g<have> not \g<what>",
    ),
)
RULE_NAMES = tuple(rule.name for rule in _RULES)

# A question about two things has no one negation.
_TWO_QUESTIONS = re.compile(r",| and is | if |^is .* is ", re.IGNORECASE)


def statement_pair(question: str) -> StatementPair | None:
    """The pair of the first rule that fits a question, None if none does."""
    text = _tidied(question)
    if _TWO_QUESTIONS.search(text):
        return None
    for rule in _RULES:
        match = rule.pattern.fullmatch(text)
        if match:
            return StatementPair(rule.name, _sentence(match, rule.affirmative), _sentence(match, rule.negative))
    return None


def _tidied(question: str) -> str:
    """Without repeated spaces and the mark at the end; the verb that opens it in lower case."""
    first, _, rest = " ".join(question.split()).rstrip("?.! ").partition(" ")
    return f"{first.lower()} {rest}"


def _sentence(match: re.Match[str], template: str) -> str:
    """The statement in lower case except for words that are written in capitals, such as CT."""
    words = match.expand(template).split()
    return " ".join(
        word if word.isupper() or any(letter.isdigit() for letter in word) else word.lower() for word in words
    )
