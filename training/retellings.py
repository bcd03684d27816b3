"""Sentences in quite other words, and near misses: statements on the same subject. Written for `support_study`.

Numbers, names and denials are right in both, so that only the words and the meaning tell them apart.
"""

from __future__ import annotations

RETOLD: tuple[tuple[str, str, str], ...] = (
    (
        "Rinse the filter under running water once a month and let it dry completely before refitting it.",
        "The filter should be washed monthly and must be fully dry when it is put back.",
        "A clogged filter makes the fan louder and shortens the life of the motor.",
    ),
    (
        "The battery reaches full capacity after roughly three charging cycles.",
        "It takes about three charges until the battery performs at its best.",
        "The battery is charged through the port at the back of the device.",
    ),
    (
        "Employees accrue vacation days from the first day of their contract.",
        "Staff start earning holiday as soon as their contract begins.",
        "Employees hand in vacation requests through the portal.",
    ),
    (
        "Snow leopards are solitary animals that roam over large territories at high altitude.",
        "These cats live alone and wander wide areas high up in the mountains.",
        "Snow leopards hunt wild sheep and goats in the mountains.",
    ),
    (
        "The committee postponed its decision because several members were absent.",
        "The vote was put off as not everyone on the committee had turned up.",
        "The committee is elected by the members every spring.",
    ),
    (
        "Yeast converts sugar into carbon dioxide, which makes the dough rise.",
        "Dough swells because yeast turns sugars into gas.",
        "Yeast is sold fresh or dried, and keeps longest in the freezer.",
    ),
    (
        "The bridge was closed to lorries after cracks were found in two of its pillars.",
        "Heavy vehicles were banned from crossing once two supports turned out to be cracked.",
        "The bridge joins the old town with the harbour and carries a tramway.",
    ),
    (
        "Backups are encrypted before they leave the server.",
        "Data is made unreadable prior to being copied off the machine.",
        "Backups are kept for as long as the contract lasts.",
    ),
    (
        "The poet spent her childhood on a remote farm and was taught by her grandmother.",
        "She grew up in the countryside, where her grandmother gave her lessons.",
        "The poet published her first collection while she worked on a farm.",
    ),
    (
        "Visitors must leave bags and coats in the cloakroom before entering the galleries.",
        "Guests have to deposit luggage and jackets ahead of their visit to the exhibition.",
        "Visitors find the cloakroom and the galleries on the plan at the entrance.",
    ),
    (
        "Rising temperatures force many alpine plants to grow at greater heights.",
        "As it gets warmer, mountain flora moves uphill.",
        "Many alpine plants bloom for a short time at low temperatures.",
    ),
    (
        "The refund is transferred to the original payment method within a week of the return.",
        "You get your money back the way you paid, at the latest seven days after sending the goods back.",
        "The payment method can be changed in the account until the order is shipped.",
    ),
    (
        "The engine shuts down automatically when the oil pressure falls too low.",
        "If there is not enough oil pressure, the motor stops by itself.",
        "The oil pressure of the engine is shown on the left of the panel.",
    ),
    (
        "Children under six travel free of charge when accompanied by an adult.",
        "Kids younger than six pay nothing as long as a grown-up comes along.",
        "Children under six are offered a seat of their own in every car.",
    ),
    (
        "The novel was rejected by a dozen publishers before it became a bestseller.",
        "Twelve houses turned the book down, yet it went on to sell hugely.",
        "The publishers of the novel also brought out a bestseller about the sea.",
    ),
    (
        "Meetings are recorded only if all participants agree beforehand.",
        "A call may be taped solely when everybody has given consent in advance.",
        "All participants of meetings find the agenda beforehand in the calendar.",
    ),
)
"""(a document's sentence, the same told otherwise, another statement on the subject)."""
