"""The shipped verifier beside two baselines without coefficients, on sentences written for this test."""

from answering.evidence.support import SUPPORT_BAR
from app.providers.rerank.reader import OnnxReader
from training.model_answers_study import (
    LEXICAL_BAR,
    WORD_SHARE_BAR,
    Labelled,
    auc,
    lexical,
    shipped,
    word_share,
)
from training.passages import chunks_of

CLUB = """# Swimming club

The pool is open from 7 am to 9 pm on weekdays and from 9 am to 6 pm at weekends. It closes for two weeks in August.

Each member may bring up to three guests on weekdays. Guests pay 4 euros and must be accompanied by a member at all
times. On Sundays, guests are not admitted.

Lockers may be used free of charge for the length of a visit. A lost key costs 15 euros to replace. Membership runs for
twelve months and renews unless it is cancelled in writing at least six weeks before it ends.
"""
PRINTER = """# Label printer

Load the roll with the printed side up. The printer accepts rolls between 20 and 62 mm wide. Thermal labels fade in the
sun, so keep them in a drawer.

To print from the command line, run `label --copies 2 FILE`. With `--dry-run` the picture is written to a file and
nothing is printed. The option `--cut` cuts the tape after each label; it is off by default.

When the red light blinks, the head is too hot: wait for ten minutes. Never clean the head with water. Both trays can be
used with the wide roll.
"""
LABELLED: list[tuple[str, str, str, bool]] = [
    (CLUB, "Can I bring a guest on Sunday?", "No, guests are not admitted on Sundays.", True),
    (CLUB, "Can I bring a guest on Sunday?", "Yes, guests may be brought on Sundays.", False),
    (CLUB, "Can a guest swim alone?", "No, a member has to be with them all the time.", True),
    (CLUB, "Can a guest swim alone?", "Yes, a guest can swim alone if a member has paid.", False),
    (CLUB, "How many guests may a member bring?", "Three.", True),
    (CLUB, "How many guests may a member bring?", "Four.", False),
    (CLUB, "When does the pool close at weekends?", "At 6 pm.", True),
    (CLUB, "When does the pool close at weekends?", "The pool closes at 9 pm at weekends.", False),
    (CLUB, "What does a lost key cost?", "You pay 15 euros for a key you have lost.", True),
    (CLUB, "What does a lost key cost?", "A lost key costs 4 euros to replace.", False),
    (CLUB, "How long before its end must a membership be cancelled?", "6 weeks", True),
    (CLUB, "How long before its end must a membership be cancelled?", "Twelve weeks.", False),
    (CLUB, "Does membership end by itself?", "No, it goes on unless you cancel it in writing.", True),
    (CLUB, "Does membership end by itself?", "Yes, membership ends after twelve months.", False),
    (CLUB, "Do lockers cost anything?", "Lockers are free while you are there.", True),
    (CLUB, "Do lockers cost anything?", "Lockers cost 15 euros for the length of a visit.", False),
    (PRINTER, "Which side of the roll goes up?", "The printed side.", True),
    (PRINTER, "Which side of the roll goes up?", "Load the roll with the printed side down.", False),
    (PRINTER, "How do I print two copies?", "`label --copies 2 FILE`", True),
    (PRINTER, "How do I print two copies?", "Run `label --cut 2 FILE`.", False),
    (PRINTER, "Is the tape cut by default?", "No, `--cut` is off by default.", True),
    (PRINTER, "Is the tape cut by default?", "Yes, the tape is cut after each label by default.", False),
    (PRINTER, "What does --dry-run do?", "It writes the picture to a file without printing.", True),
    (PRINTER, "What does --dry-run do?", "With `--dry-run` the picture is printed to a file and cut.", False),
    (PRINTER, "What if the red light blinks?", "The head is too hot, so wait ten minutes.", True),
    (PRINTER, "What if the red light blinks?", "The head is too hot, so clean the head with water.", False),
    (PRINTER, "How wide may a roll be?", "Up to 62 mm.", True),
    (PRINTER, "How wide may a roll be?", "A roll may be up to 82 mm wide.", False),
    (PRINTER, "Which trays take the wide roll?", "The two trays can be used with the wide roll.", True),
    (PRINTER, "Which trays take the wide roll?", "No tray can be used with the wide roll.", False),
]
"""Passage, question, sentence, and whether the passage says it: yes and no, short answers, options."""


async def test_the_verifier_tells_more_than_counting_words() -> None:
    """Of short answers it keeps more true and fewer false ones than the word share or anchorcite's score."""
    sentences = [
        Labelled(claim, question, tuple(chunks_of(text.encode(), "manual.md")), true)
        for text, question, claim, true in LABELLED
    ]
    labels = [sentence.true for sentence in sentences]
    reader = OnnxReader()
    try:
        support = [await shipped(sentence, reader) for sentence in sentences]
    finally:
        reader.close()
    baselines = (
        ([word_share(sentence) for sentence in sentences], WORD_SHARE_BAR),
        ([lexical(sentence) for sentence in sentences], LEXICAL_BAR),
    )
    kept, false_kept = rates(support, labels, SUPPORT_BAR)
    assert kept >= 0.8
    assert false_kept <= 0.2
    for scores, bar in baselines:
        true_kept, wrongly_kept = rates(scores, labels, bar)
        assert auc(support, labels) >= auc(scores, labels) + 0.2
        assert kept - false_kept >= true_kept - wrongly_kept + 0.3


def rates(scores: list[float], labels: list[bool], bar: float) -> tuple[float, float]:
    """Return the shares of the true and of the false sentences that reach *bar*."""
    true, false = (
        [score >= bar for score, label in zip(scores, labels, strict=True) if label is truth] for truth in (True, False)
    )
    return sum(true) / len(true), sum(false) / len(false)
