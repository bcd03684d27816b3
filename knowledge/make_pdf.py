"""Write the sample garden's two PDF documents from the text in this file.

    python knowledge/make_pdf.py

The output is the same, byte for byte, each time (fixed creation date, core fonts). One entry of
`pages` is one page; a line that starts with `## ` is a section heading, every other block is a paragraph.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF

HERE = Path(__file__).parent
CREATED = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Document:
    """One PDF: its file name, its title, and its text page by page."""

    file: str
    title: str
    pages: tuple[str, ...]


SAFETY_MANUAL = Document(
    file="safety_manual.pdf",
    title="Safety Manual",
    pages=(
        """
## 1 Purpose and responsibilities

This manual applies to everyone who enters the workshop, the laboratory or the test arena of Larkfield Robotics in Building C, including visitors. It is reviewed every March by the safety committee, and the current edition hangs at each entrance.

Each person is responsible for working safely and may stop any activity that looks dangerous. A stopped activity is resumed only after the safety officer or a deputy has cleared it. The safety officer can be reached at extension 4410 and carries the duty phone from 06:00 to 20:00.

Team leads make sure that nobody works in Building C without the safety induction. The induction has to be repeated every 24 months and after any accident with lost working time.

Visitors are accompanied at all times and wear a yellow vest. A host may accompany no more than four visitors at once. Children under 14 years are not admitted to the workshop.
""",
        """
## 2 General safety protocols

The general safety protocols are simple: wear the protective equipment of the area, keep walkways clear, work with a partner when the task is marked as hazardous, and report every injury and every near miss.

Safety shoes of class S1P are required everywhere in Building C. Hearing protection is required next to the milling machine, and long hair is tied back near rotating parts. Loads above 23 kilograms are lifted by two people or with the crane. Walkways are 1.2 metres wide and must never be used for storage, not even for a few minutes.

## 3 Test arena

Carts in the arena may drive at full speed only when the light curtain is armed and nobody is inside. With people inside, the speed is limited to 0.3 metres per second and one person keeps a hand on the wireless stop button. Emergency stops are tested at the beginning of each shift, and the result is written into the arena log.

A cart that has moved unexpectedly is switched off, marked with a red tag and left where it is until the motion team has read out its memory.
""",
        """
## 4 Chemical handling

The safety protocols for handling chemicals require protective goggles and nitrile gloves at all times, work under the fume hood for anything that gives off vapour, and a second person in the room for Class A chemicals. Class A covers concentrated acids and bases, hydrofluoric products and anything marked as toxic. Contact lenses are not worn in the laboratory.

Read the safety data sheet before you open a container for the first time. The sheets are kept in the blue folder next to the fume hood. Every container carries a label with the name of the substance, the date of opening and the initials of the owner, and a container without a label is treated as hazardous waste.

Acids and bases are stored in separate cabinets. Flammable solvents such as isopropanol are kept in the fire-rated cabinet, which may hold 20 litres at most, and only half a litre may stand on a workbench. The air speed of the fume hood is measured once a year and must reach 0.5 metres per second.

Used solvents go into the red canisters, never into the writer. A contractor collects the canisters on the first Monday of each month.
""",
        """
## 5 Batteries and electrical work

Lithium battery packs are charged only in the ventilated charging room, on a non-combustible surface, and never overnight without supervision by the monitoring system. A pack that has been dropped, is swollen or smells sweet is placed in the sand box outside Gate 2 and watched for 24 hours.

Work on circuits above 60 volts is reserved for qualified electricians. Before the work begins, the circuit is switched off, locked with a personal padlock, tagged and tested for the absence of voltage. Only the person who placed the padlock may remove it.

Soldering stations have an extraction hose that is placed no farther than 15 centimetres from the joint. Lead-free solder is the standard; solder that contains lead needs permission from the safety officer and a separate waste box.

Extension leads are not connected to one another, and damaged cables are cut through before disposal so that nobody can use them again.
""",
        """
## 6 Emergencies

In case of fire, press the nearest alarm button, warn the people around you, leave by the marked route and go to the assembly point at Parking Lot 3. Lifts are not used. The floor wardens count the people present and report to the fire service. Use a fire extinguisher only on a small fire and only with your back to the exit. Class D extinguishers for metal fires hang in the charging room.

After contact with a chemical, rinse the eyes or the skin with water for at least 15 minutes and have a second person call for help. Eyewash stations are located at the laboratory door and beside the charging room, and they are flushed every week.

A spill of up to one litre may be cleaned up with the absorbent kit by trained staff. For a larger spill, leave the room, close the door and call the fire service and the safety officer.

Every accident is reported to the safety officer on the same day, and a written report follows within 3 working days. First aid boxes are checked on the first day of each quarter. There are eleven trained first aiders, and their names are listed on the board at the entrance.
""",
    ),
)

HR_POLICY = Document(
    file="hr_policy.pdf",
    title="HR Policy",
    pages=(
        """
## 1 Vacation

The company vacation policy grants every full-time employee 28 working days of paid vacation per calendar year. Employees who work part-time receive a proportional share. In the year of joining, the entitlement grows by one twelfth for each full month of employment.

Vacation is requested in the leave portal. Requests for more than three days in a row are made at least 15 working days in advance, and the team lead answers within three working days. A request without an answer counts as approved.

Up to 5 unused days can be carried over into the next year, and they expire on 31 March. Vacation is not paid out in money, except when employment ends. Public holidays and days of illness during a vacation are not deducted, provided that the illness is certified by a doctor.

Each employee takes at least one continuous break of two weeks a year. The company closes between 24 December and 1 January, and this closure does not use up vacation days. One additional day is granted for a wedding, for moving house, and for the birth of a child.
""",
        """
## 2 Remote work

Employees whose duties allow it may work from home on up to three days a week. The days are agreed within the team. Everyone is reachable during core hours, which run from 10:00 to 15:00. Wednesday is the common day on site for all engineering teams.

Working from another country of the European Union is possible for at most 20 working days per calendar year and needs written approval before the journey is booked, because tax and social insurance have to be checked. Remote work from outside the European Union is not permitted.

The company provides a screen, a chair and a headset for the home office. A one-time allowance of EUR 300 is paid for other furniture. The equipment remains the property of the company and is returned when employment ends. Workshop staff, whose duties cannot be done from home, receive two additional free days a year as compensation.
""",
        """
## 3 Sick leave

Anyone who is ill informs the team lead before 09:30 on the first day. A message in chat is enough, and no diagnosis has to be named. A medical certificate is required from the fourth calendar day of an illness onwards.

Salary is paid in full for the first six weeks of an illness. After that, the health insurance takes over, and the company adds the difference to 90 percent of net pay for a further eight weeks.

For a sick child under twelve years, each parent may stay at home for up to 15 days a year. These days are paid in full and need a certificate from the first day.

Employees who return after more than six weeks are offered a gradual return, in which hours rise step by step over four to twelve weeks. Participation is voluntary. The company doctor is in Building A every second Thursday from 14:00 to 17:00 and is bound to secrecy towards the company.
""",
        """
## 4 Travel and expenses

Expenses are submitted in the expense tool within 30 days, with a photograph of each receipt. Amounts below EUR 10 need no receipt. Approved expenses are paid with the next salary run, which takes place on the 25th of each month.

Trains are preferred to planes for journeys of less than six hours. First class is allowed on trains when the journey takes more than three hours. Flights are booked in economy class, whatever the distance. Hotels may cost up to EUR 130 per night including breakfast; a higher price needs approval beforehand.

The daily meal allowance is EUR 28 for a full day within the country and EUR 42 for a full day abroad. It is reduced by 20 percent for a breakfast and by 40 percent for a lunch or dinner that someone else has paid for. Use of a private car is refunded at EUR 0.30 per kilometre.

## 5 Training

Each employee has a training budget of EUR 1,500 and five paid days a year for courses and conferences. Unused training budget is not carried over. Courses that cost more than EUR 5,000 come with an agreement to stay for twelve months.
""",
    ),
)

DOCUMENTS = (SAFETY_MANUAL, HR_POLICY)


class Page(FPDF):
    """A4 pages with the document's title and the page number in the footer."""

    def footer(self) -> None:
        self.set_y(-15)
        self.set_font("Helvetica", size=8)
        self.cell(0, 8, f"Larkfield Robotics | {self.title} | Page {self.page_no()}", align="C")


def render(document: Document) -> bytes:
    """The finished PDF, the same bytes for the same text."""
    pdf = Page(format="A4")
    pdf.set_title(document.title)
    pdf.set_author("Larkfield Robotics (sample garden)")
    pdf.set_creation_date(CREATED)
    pdf.set_margins(25, 22)
    for number, text in enumerate(document.pages):
        pdf.add_page()
        if number == 0:
            pdf.set_font("Helvetica", "B", 20)
            pdf.multi_cell(0, 12, document.title, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(2)
        for block in text.strip().split("\n\n"):
            if block.startswith("## "):
                pdf.set_font("Helvetica", "B", 13)
                pdf.multi_cell(0, 9, block.removeprefix("## "), new_x="LMARGIN", new_y="NEXT")
            else:
                pdf.set_font("Helvetica", size=11)
                pdf.multi_cell(0, 6, block, align="L", new_x="LMARGIN", new_y="NEXT")
            pdf.ln(3)
    if pdf.page_no() != len(document.pages):
        raise ValueError(f"{document.file}: {len(document.pages)} pages of text became {pdf.page_no()} pages")
    return bytes(pdf.output())


def main() -> None:
    for document in DOCUMENTS:
        path = HERE / document.file
        path.write_bytes(render(document))
        print(f"{path.name}: {len(document.pages)} pages, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
