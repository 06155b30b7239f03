"""Which students need a call, by a rule that fits into three sentences."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from grader.reporting.report.standing import FAILED, MISSING, Standing
from grader.submission.wording import listed

#: How many assignments without a grade are a reason.
MIN_WITHOUT_GRADE = 2
#: A share below this part of the median of the class is a reason.
PART_OF_MEDIAN = 0.5
#: A share so far below the mean of the student's own earlier ones is a reason.
DROP = 0.3
#: How many earlier shares a student needs for that.
MIN_EARLIER = 2

RULE = (
    f"students without a grade in {MIN_WITHOUT_GRADE} or more assignments so far, students with "
    f"less than {PART_OF_MEDIAN:.0%} of the median of the class, and students who are at least "
    f"{100 * DROP:g} percentage points below the mean of their own earlier assignments, if they "
    f"have {MIN_EARLIER} or more"
)


def reasons(standing: Standing, student: str, assignment: str) -> list[str]:
    """Return why a student needs a call after an assignment, as sentences; often there are none.

    Parameters
    ----------
    standing : Standing
        The class in the term.
    student : str
    assignment : str
        The last assignment that is looked at. Later ones do not matter.

    Returns
    -------
    list of str
    """
    return [*_without_grade(standing, student, assignment), *_low(standing, student, assignment)]


def _without_grade(standing: Standing, student: str, assignment: str) -> Iterator[str]:
    until = standing.until(assignment)
    states = {name: standing.state(student, name) for name in until}
    without = [name for name in until if states[name] in (MISSING, FAILED)]
    if len(without) < MIN_WITHOUT_GRADE:
        return
    missing = [name for name in without if states[name] == MISSING]
    failed = [name for name in without if states[name] == FAILED]
    told = [f"nothing was handed in for {listed(missing)}"] if missing else []
    told += [f"what was handed in for {listed(failed)} could not be graded"] if failed else []
    text = ", and ".join(told)
    yield f"{text[0].upper()}{text[1:]}."


def _low(standing: Standing, student: str, assignment: str) -> Iterator[str]:
    share = standing.share(student, assignment)
    outcome = standing.outcomes.get(assignment)
    if share is None or outcome is None or outcome.median is None:
        return
    if share < PART_OF_MEDIAN * outcome.median:
        yield (
            f"{share:.0%} in {assignment}, where the median of the class is {outcome.median:.0%}."
        )
    known = [standing.share(student, name) for name in standing.until(assignment)[:-1]]
    earlier = [one for one in known if one is not None]
    # Shares are fractions, such as 0.8 - 0.5, whose difference is not exactly 0.3.
    if len(earlier) >= MIN_EARLIER and statistics.fmean(earlier) - share > DROP - 1e-9:
        yield (
            f"{share:.0%} in {assignment}, after {statistics.fmean(earlier):.0%} on average in "
            f"{len(earlier)} earlier assignments."
        )
