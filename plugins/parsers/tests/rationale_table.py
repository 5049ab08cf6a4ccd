"""Rationales written by hand, with the label each argues for: what the rules read, and what they must leave alone."""

from typing import Final

from attrs import frozen
from jrh import Scale

YES_NO: Final = Scale.of_labels("YES", "NO")
RIGHT_WRONG: Final = Scale.of_labels("correct", "incorrect")
PASS_FAIL: Final = Scale.of_labels("PASS", "FAIL")
LEVELS: Final = Scale.of_levels(1, 5)
PAIR: Final = Scale.of_pairs()
TIED: Final = Scale.of_pairs(tie="C")


@frozen
class Row:
    """One rationale."""

    scale: Scale
    text: str
    argued: str | None
    """The label that a careful reader would say it argues for; None where it argues for none, or cannot be told."""


SEEN: Final = (
    # Of each kind of scale plain conclusions first, then what only looks like one.
    Row(YES_NO, "The capital of Australia is Canberra, and the response says Sydney. So the answer is NO.", "NO"),
    Row(YES_NO, "All three facts check out against the source. Therefore, the verdict is YES.", "YES"),
    Row(YES_NO, "The sum is wrong: 12 + 5 is 17, not 18. Thus NO.", "NO"),
    Row(YES_NO, "I checked each claim. Every one holds. My answer is YES.", "YES"),
    Row(RIGHT_WRONG, "Water boils at 100 degrees at sea level, as stated, so I judge the response correct.", "correct"),
    Row(RIGHT_WRONG, "It confuses mass with weight. I would label this incorrect.", "incorrect"),
    Row(RIGHT_WRONG, "The date is off by ten years, so the response is incorrect.", "incorrect"),
    Row(RIGHT_WRONG, "The formula matches. Therefore the answer is correct.", "correct"),
    Row(PASS_FAIL, "It covers the request and stays polite. I would give it a PASS.", "PASS"),
    Row(PASS_FAIL, "No greeting, no closing, and half of it is off topic; overall, FAIL.", "FAIL"),
    Row(PASS_FAIL, "The tool call has the wrong date. Verdict: FAIL", "FAIL"),
    Row(YES_NO, "Step 1: find the author. Step 2: compare. They match. Final answer: YES", "YES"),
    Row(YES_NO, "Some readers would say that the answer is NO, but the text does name the river.", None),
    Row(YES_NO, "The response claims that the answer is YES. The source says nothing about it.", None),
    Row(YES_NO, "If the date were wrong, the verdict would be NO. The date is right.", None),
    Row(YES_NO, "The answer is not NO.", None),
    Row(YES_NO, "Is the answer YES? That depends on the reading.", None),
    Row(YES_NO, "No greeting is given, yet the facts are right.", None),
    Row(YES_NO, "Yes, the response is long. It repeats itself.", None),
    Row(YES_NO, "The question is whether Paris is in France. It is.", None),
    Row(RIGHT_WRONG, "The student concludes that the answer is correct, without a proof.", None),
    Row(RIGHT_WRONG, "It is hardly correct to call this a proof.", None),
    Row(RIGHT_WRONG, "The correct value would be 17; the response gives 18.", None),
    Row(RIGHT_WRONG, "Parts of it are correct, and parts are incorrect.", None),
    Row(PASS_FAIL, "Tests that FAIL are listed first, tests that PASS come later.", None),
    Row(PASS_FAIL, "I cannot say that this is a PASS.", None),
    Row(PASS_FAIL, "I was about to say FAIL, but on reflection the date is given. I conclude PASS.", "PASS"),
    Row(YES_NO, "At first sight the answer is YES. However, the second claim is false, so the answer is NO.", "NO"),
    Row(LEVELS, "Clear thesis, weak evidence. I would rate it a 3.", "3"),
    Row(LEVELS, "Well organised and fluent, with a few slips. Score: 4", "4"),
    Row(LEVELS, "It barely addresses the task, so I give this essay a 2.", "2"),
    Row(LEVELS, "The argument is complete and the style is mature. Overall, 5.", "5"),
    Row(LEVELS, "This earns a 1 because there is no argument at all.", "1"),
    Row(LEVELS, "A solid attempt that deserves a score of 4.", "4"),
    Row(LEVELS, "On balance this is a 3 out of 5.", "3"),
    Row(LEVELS, "The final score is 2.", "2"),
    Row(LEVELS, "I would give clarity a 4 and depth a 2.", None),
    Row(LEVELS, "Grammar score: 5. Content score: 2.", None),
    Row(LEVELS, "The essay has 3 paragraphs and 2 examples.", None),
    Row(LEVELS, "A level 5 essay would cite sources; this one does not.", None),
    Row(LEVELS, "It is between a 3 and a 4.", None),
    Row(LEVELS, "I would give it a 3 or a 4.", None),
    Row(LEVELS, "It could be a 4 if the ending were stronger.", None),
    Row(LEVELS, "On a scale from 1 to 5, structure matters most.", None),
    Row(LEVELS, "The rubric says that a score of 2 is for essays without evidence.", None),
    Row(LEVELS, "For structure I would rate it a 4, but the evidence is thin.", None),
    Row(LEVELS, "The author rates the film a 5 and explains why.", None),
    Row(LEVELS, "I first thought of a 4, yet the conclusion is missing, so I settle on 3.", "3"),
    Row(PAIR, "Response A answers the question; Response B does not. Therefore A is better.", "A"),
    Row(PAIR, "Both are fluent, but B cites its source. I prefer B.", "B"),
    Row(PAIR, "B is shorter and just as complete, so B is the better response.", "B"),
    Row(PAIR, "Response A is more accurate and more helpful than Response B.", "A"),
    Row(PAIR, "A rambles. I would go with B.", "B"),
    Row(PAIR, "The better response is A, because it gives the reason.", "A"),
    Row(PAIR, "Overall, Response B wins.", "B"),
    Row(TIED, "They say the same in other words. It is a tie.", "C"),
    Row(PAIR, "A is better in style, B is better in content.", None),
    Row(PAIR, "Response A is longer than Response B.", None),
    Row(PAIR, "Response A claims that B is better, which is beside the point.", None),
    Row(PAIR, "B is not better than A.", None),
    Row(PAIR, "If length were all that counted, A would win.", None),
    Row(PAIR, "A better answer would name the city.", None),
    Row(PAIR, "Neither is convincing.", None),
    Row(PAIR, "Response A mentions vitamin A, and Response B mentions vitamin B.", None),
    Row(PAIR, "A is better written, but it is wrong. Therefore I choose B.", "B"),
    Row(PAIR, "Although A is better organised, B is more accurate.", None),
    Row(PAIR, "Option A is worse because it leaves out the dose.", None),
    Row(PAIR, "The user asked which is better, A or B.", None),
)
"""What the rules were written with."""

UNSEEN: Final = (
    Row(YES_NO, "The response gives 1969, which matches the record, so my verdict is YES.", "YES"),
    Row(YES_NO, "There is no mention of the price anywhere. Hence, the answer must be NO.", "NO"),
    Row(YES_NO, "The claim is unsupported; I conclude NO.", "NO"),
    Row(YES_NO, "Everything in it is true. In conclusion, YES.", "YES"),
    Row(YES_NO, "One might think the verdict is YES, since the tone is confident.", None),
    Row(YES_NO, "According to the assistant, the answer is NO.", None),
    Row(YES_NO, "The answer to the user's first question is YES, the second is left open.", None),
    Row(YES_NO, "I do not think that the answer is NO.", None),
    Row(YES_NO, "The form asks for YES or NO.", None),
    Row(RIGHT_WRONG, "Photosynthesis releases oxygen, not nitrogen; therefore the response is incorrect.", "incorrect"),
    Row(RIGHT_WRONG, "Two sources confirm the figure, and I consider the answer correct.", "correct"),
    Row(RIGHT_WRONG, "It starts from a correct premise but ends elsewhere.", None),
    Row(RIGHT_WRONG, "The response says the first theory is incorrect.", None),
    Row(PASS_FAIL, "The agent deleted the wrong file. This is a clear FAIL.", "FAIL"),
    Row(PASS_FAIL, "All criteria are met, so I mark it PASS.", "PASS"),
    Row(PASS_FAIL, "To PASS, the agent would have to ask first.", None),
    Row(PASS_FAIL, "Whether this should FAIL is open to debate.", None),
    Row(LEVELS, "Little development and many errors; I'd score it 2.", "2"),
    Row(LEVELS, "Strong throughout, therefore it gets a 5.", "5"),
    Row(LEVELS, "Taking everything together, I assign a 3.", "3"),
    Row(LEVELS, "My rating is 4 out of 5.", "4"),
    Row(LEVELS, "Organisation: 4. Evidence: 2. Language: 3.", None),
    Row(LEVELS, "I would rate the introduction a 5, the rest is weaker.", None),
    Row(LEVELS, "It has 4 good arguments, of which 2 are developed.", None),
    Row(LEVELS, "This is not a 5.", None),
    Row(LEVELS, "The writer gives the hotel a score of 3.", None),
    Row(LEVELS, "A 4 would require better transitions.", None),
    Row(PAIR, "A leaves out the deadline, so Response B is preferable.", "B"),
    Row(PAIR, "On the whole I favour A.", "A"),
    Row(PAIR, "Response B is clearer and more complete. The winner is B.", "B"),
    Row(PAIR, "A clearly outperforms B.", "A"),
    Row(PAIR, "A is funnier; B is more useful.", None),
    Row(PAIR, "Many people would prefer A.", None),
    Row(PAIR, "I would choose A only if the user wanted a poem.", None),
    Row(TIED, "Both are equally good, so it is a draw.", "C"),
    Row(PAIR, "The person in story B is better at chess than the one in story A.", None),
)
"""Written before the rules were, and left alone while they were tuned."""
