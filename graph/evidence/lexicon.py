"""Words that turn a statement round: what denies, what weakens, what is the opposite of what. Written by hand."""

from __future__ import annotations

from graph.terms import stem

NEGATORS = frozenset(
    "not no never none nobody nothing neither nor cannot without unable hardly scarcely rarely seldom except excluding "
    "lack lacks lacked lacking fail fails failed refuse refuses refused false falsely untrue incorrect wrongly myth "
    "dont doesnt didnt isnt wasnt arent cant wont nicht kein".split()
)
"""A contraction on ``n't`` denies as well."""

NOT_A_DENIAL = frozenset(
    {
        ("not", "only"), ("not", "just"), ("not", "merely"), ("not", "least"), ("not", "more"), ("not", "less"),
        ("not", "fewer"), ("not", "later"), ("not", "exceed"), ("no", "more"), ("no", "less"), ("no", "fewer"),
        ("no", "later"), ("no", "longer than"), ("no", "doubt"), ("nothing", "but"),
    }
)  # fmt: skip
"""Pairs of words of which the first denies nothing."""

CLAUSE_ENDS = frozenset(
    ", ; : . ( ) — – but although though while whereas because since if unless when until except without".split()
)
"""Where the reach of a denial or a condition ends."""

HEDGES = frozenset(
    "may might could possibly perhaps allegedly reportedly supposedly purportedly rumored rumoured".split()
)
SOFT = HEDGES | frozenset(
    "can potentially likely probably sometimes believed thought suggests suggest appears appear seems seem claimed "
    "claims alleged considered said expected can't cannot".split()
)
"""Words that keep a claim as weak as a hedged quote."""

DUTIES = frozenset("must shall required mandatory obligatory compulsory".split())
CHOICES = frozenset("may can optional optionally allowed permitted might could should recommended".split())

ALL = frozenset("all every each always any entire entirely completely everyone everything everybody".split())
PART = frozenset("some several many most few sometimes often usually generally partly certain occasionally".split())
ONLY = frozenset("only solely exclusively".split())
ONLY_TOO = ONLY | frozenset("sole exclusive just alone single unique merely limited restricted except".split())

CONDITIONS = frozenset("if unless".split())
CONDITIONAL = CONDITIONS | frozenset(
    "provided when whenever where case except until assuming depending subject with without".split()
)
WONDERING = frozenset("ask asked asks know knows see determine check decide wonder wondered as whether even".split())
"""Words before "if" that make it no condition."""

SPEECH = frozenset("say reply respond answer output print write repeat tell pretend".split())
SPEECH_BEFORE = frozenset(
    ". , ; : ( — – ! ? and then please must should shall will always only instead just to you".split()
)
"""What stands before such a verb where it gives an order to the reader."""

PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
NOT_PREFIXED = frozenset(
    "discover display diseas inform invent invest intent incom impress improv indic disciplin distanc dispos unit "
    "union".split()
)
"""Stems that only look like the denial of another word."""

_PAIRS = """
increas/decreas reduc declin fall fell drop shrink lower fewer|rise rose risen/fall fell fallen drop decreas declin|
grow grew grown/shrink shrank declin decreas|gain/lose lost|win won/lose lost|more/less fewer|most/least fewest|
higher/lower|high/low|highest/lowest|upper/lower|above/below under|over/under|before/after|earlier/later|early/late|
first/last final|begin began start/end finish stop|open/close shut|allow permit/forbid prohibit ban deni|
accept approv/reject refus|enabl/disabl|includ/exclud|add/remov delet subtract|buy bought/sell sold|import/export|
north northern/south southern|east eastern/west western|left/right|up upward/down downward|old older oldest/new young
younger newer|hot hotter/cold colder cool|warm/cold cool|large larger largest big bigger biggest/small smaller smallest|
maximum/minimum|best/worst|better/wors|alway/never|insid/outsid|intern/extern|posit/negat|succeed success/fail failur|
true/fals|male/femal|man men/woman women|mother/father|son/daughter|brother/sister|husband/wife|king/queen|boy/girl|
summer/winter|day/night|morn/even|mandatori requir/option|perman/temporari|public/privat|encrypt/decrypt|
upload/download|connect/disconnect|wet/dri|heavi heavier/light lighter|strong stronger/weak weaker|
fast faster/slow slower|long longer/short shorter|wide/narrow|rich/poor|same ident/differ|major/minor|with/without|
deep/shallow|front/back rear|top/bottom|odd/even|victori/defeat|support/oppos|legal/illeg|safe/danger unsaf|full/empti|
parent/child children|lend/borrow|guilti/innoc|visibl/invisibl|attack/defend|arriv/depart leav
"""

Opposites = dict[str, frozenset[str]]


def _opposites() -> Opposites:
    """Each stem of ``_PAIRS`` with the stems that are its opposite."""
    table: dict[str, set[str]] = {}
    for pair in " ".join(_PAIRS.split()).replace("| ", "|").split("|"):
        left, right = ([stem(word) for word in side.split()] for side in pair.split("/"))
        for words, others in ((left, right), (right, left)):
            for word in words:
                table.setdefault(word, set()).update(other for other in others if other != word)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES: Opposites = _opposites()
"""Stem -> stems of its opposites. Loose on purpose: a pair counts only between the same neighbours."""
