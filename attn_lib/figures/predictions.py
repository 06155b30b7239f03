"""Questions before a figure that take a number and compare it with what is computed."""

from __future__ import annotations

import html
import itertools
import math

from attn_lib.figures.drawing import decimal_text

_ids = itertools.count(1)


class Prediction:
    """A question and its answer, as `predict` returns them."""

    def __init__(self, question: str, answer: float, digits: int, because: str) -> None:
        self.question, self.answer, self.digits, self.because = question, answer, digits, because

    def _repr_html_(self) -> str:
        """Return a form; without JavaScript the answer is behind a fold."""
        number = f"prediction-{next(_ids)}"
        answer = decimal_text(self.answer, self.digits)
        because = f" {html.escape(self.because)}" if self.because else ""
        return (
            f'<form class="attn-predict" data-answer="{round(self.answer, self.digits)}" '
            f'data-digits="{self.digits}"><label for="{number}">'
            f"<strong>Predict:</strong> {html.escape(self.question)}</label>"
            f'<span class="attn-predict-entry" hidden>'
            f'<input id="{number}" type="number" step="any" inputmode="decimal" required> '
            f"<button>Compare</button></span>"
            f'<p class="attn-predict-verdict" role="status"></p>'
            f"<details><summary>Answer</summary><p>{answer}.{because}</p></details></form>"
        )

    def __repr__(self) -> str:
        return f"Predict: {self.question}"


def predict(question: str, answer: float, *, digits: int = 2, because: str = "") -> Prediction:
    """Return a question that the reader answers with a number before looking.

    Parameters
    ----------
    question : str
        A question that a number answers.
    answer : float
        The number, computed.
    digits : int
        Decimals that are shown.
    because : str
        Why the number is so, in a sentence that is shown with it.

    Returns
    -------
    Prediction
        Display it as the last line of a cell, before the figure that shows the answer.

    Raises
    ------
    ValueError
        If the question does not end with a question mark, or the answer is not finite.

    Examples
    --------
    >>> question = predict("What is the mean of 8 and 9?", (8 + 9) / 2, digits=1)
    >>> "<p>8.5.</p>" in question._repr_html_()
    True
    """
    if not question.rstrip().endswith("?"):
        raise ValueError(f"predict: expected a question that ends with ?, got {question!r}.")
    if not math.isfinite(answer):
        raise ValueError(f"predict: expected a finite number as the answer, got {answer}.")
    return Prediction(question, float(answer), digits, because)
