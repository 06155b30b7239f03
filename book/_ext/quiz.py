"""The quiz directive: a question, its options, and an explanation of each option.

::

    :::{quiz} which-shape
    What is the shape of `scores`?

    - [ ] `(n_k, n_q)`

      That would be keys times queries.
    - [x] `(n_q, n_k)`

      One row for each query, one column for each key.
    :::

Options are shuffled in an order that depends on the quiz's id alone, so that the place of the right
one says nothing.

On a page, quiz.js turns it into radio buttons that report right or wrong. Without JavaScript, the
same HTML shows the question, its options, and a collapsible block with all explanations. Other
builders get plain paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from string import ascii_uppercase
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MARK = re.compile(r"\[([ xX])\]\s+")
#: Options that speak of the others come after them.
ABOUT_THE_OTHERS = re.compile(r"(Both|Neither)\b")


class quiz(nodes.General, nodes.Element):  # noqa: N801, docutils names nodes in lower case
    """A quiz: its question, its options, its explanations."""


class quiz_question(nodes.General, nodes.TextElement):  # noqa: N801
    """The first paragraph of the question."""


class quiz_option(nodes.General, nodes.TextElement):  # noqa: N801
    """One option."""


class quiz_explanations(nodes.General, nodes.Element):  # noqa: N801
    """The explanations of all options."""


class quiz_explanation(nodes.General, nodes.Element):  # noqa: N801
    """The explanation of one option."""


class QuizError(ValueError):
    """Raised if a quiz is malformed."""


Pair = tuple[quiz_option, quiz_explanation]


def _read_option(item: nodes.list_item, letter: str) -> Pair:
    first = item[0] if len(item) else None
    mark = None
    if isinstance(first, nodes.paragraph) and isinstance(first[0], nodes.Text):
        mark = MARK.match(first[0])
    if first is None or mark is None:
        raise QuizError(
            f"expected '[ ]' or '[x]', a blank and a text at the start of option {letter}, "
            f"got {item.astext().splitlines()[0] if len(item) else 'nothing'!r}."
        )
    if len(item) == 1:
        raise QuizError(
            f"expected an explanation below option {letter}, got none; "
            "add an indented paragraph after a blank line."
        )
    rest = nodes.Text(first[0][mark.end() :])
    option = quiz_option("", "", rest, *first[1:])
    right = mark.group(1) != " "
    return option, quiz_explanation("", *item[1:], right=right)


def read_quiz(content: nodes.Element, identifier: str) -> quiz:
    """Make a quiz from its parsed content.

    Parameters
    ----------
    content : Element
        The parsed Markdown: paragraphs, then a list of options.
    identifier : str

    Raises
    ------
    QuizError
        If the content is not a question with well-formed options.
    """
    if not ID.fullmatch(identifier):
        raise QuizError(
            "expected an id of lower-case words joined by hyphens, such as 'which-shape', "
            f"got {identifier!r}."
        )
    *question, options = content.children or [None]
    if not isinstance(options, nodes.bullet_list):
        raise QuizError(
            "expected a list of options ('- [ ] …') at the end, got no option; "
            "nothing may follow the list."
        )
    if not question or not isinstance(question[0], nodes.paragraph):
        raise QuizError("expected a question, a paragraph, above the options, got none.")
    pairs = [_read_option(*pair) for pair in zip(options, ascii_uppercase, strict=False)]
    if len(pairs) < 2:
        raise QuizError(f"expected at least two options, got {len(pairs)}.")
    right = sum(explanation["right"] for _, explanation in pairs)
    if right != 1:
        raise QuizError(f"expected exactly one right option, marked '[x]', got {right}.")

    pairs = _shuffled(pairs, identifier)
    result = quiz("", ids=[f"quiz-{identifier}"])
    result += quiz_question("", "", *question[0].children)
    result += question[1:]
    result += [option for option, _ in pairs]
    result += quiz_explanations("", *(explanation for _, explanation in pairs))
    return result


def _shuffled(pairs: list[Pair], identifier: str) -> list[Pair]:
    """Return options and explanations in the order, and with the letters, of the page."""

    def place(numbered: tuple[int, Pair]) -> tuple[bool, str]:
        number, (option, _) = numbered
        comes_last = ABOUT_THE_OTHERS.match(option.astext()) is not None
        return comes_last, sha256(f"{number}-{identifier}".encode()).hexdigest()

    shuffled = [pair for _, pair in sorted(enumerate(pairs), key=place)]
    for letter, pair in zip(ascii_uppercase, shuffled, strict=False):
        for node in pair:
            node["letter"] = letter
    return shuffled


class QuizDirective(SphinxDirective):
    """Read ``:::{quiz} id``."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        identifier = self.arguments[0]
        content = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, content)
        try:
            result = read_quiz(content, identifier)
            self._claim(identifier)
        except QuizError as error:
            logger.warning(
                "quiz %s: %s", identifier, error, location=self.get_location(), type="quiz"
            )
            return []
        self.set_source_info(result)
        return [result]

    def _claim(self, identifier: str) -> None:
        owners = _owners(self.env)
        if identifier in owners:
            raise QuizError(
                "expected an id that no other quiz has, "
                f"got one that is already on {owners[identifier]}."
            )
        owners[identifier] = f"page {self.env.docname}"


def _owners(env: BuildEnvironment) -> dict[str, str]:
    """Return the page of each quiz id; Sphinx stores this with its environment."""
    return vars(env).setdefault("quiz_owners", {})


def _forget_page(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    owners = _owners(env)
    for identifier in [name for name, owner in owners.items() if owner == f"page {docname}"]:
        del owners[identifier]


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    _owners(env).update(_owners(other))


class PlainQuiz(SphinxPostTransform):
    """Turn quizzes into paragraphs for builders that do not write HTML."""

    default_priority = 900

    def run(self, **kwargs: object) -> None:
        if self.app.builder.format == "html":
            return
        for node in list(self.document.findall(quiz)):
            node.replace_self(list(_plain(node)))


def _plain(node: quiz) -> Iterator[nodes.Node]:
    for child in node:
        if isinstance(child, quiz_question):
            yield nodes.paragraph("", "", *child.children)
        elif isinstance(child, quiz_option):
            yield nodes.paragraph("", "", nodes.Text(f"{child['letter']}. "), *child.children)
        elif isinstance(child, quiz_explanations):
            for explanation in child:
                yield nodes.paragraph("", _verdict(explanation))
                yield from explanation
        else:
            yield child


def _verdict(explanation: quiz_explanation) -> str:
    return f"{explanation['letter']}: {'Right' if explanation['right'] else 'Not quite'}."


def _visit_quiz(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(f'<div class="quiz" id="{node["ids"][0]}">\n<fieldset>\n')


def _depart_quiz(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def _visit_question(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append('<legend class="quiz-question">')


def _depart_question(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</legend>\n")


def _visit_option(self: HTML5Translator, node: nodes.Element) -> None:
    name = node.parent["ids"][0]
    letter = node["letter"]
    self.body.append(
        f'<div class="quiz-option"><input type="radio" name="{name}" id="{name}-{letter}" '
        f'value="{letter}"><label for="{name}-{letter}"><span class="quiz-letter">{letter}</span>'
        '<span class="quiz-text">'
    )


def _depart_option(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span></label></div>\n")


def _visit_explanations(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(
        "</fieldset>\n"
        '<button type="button" class="quiz-check" hidden>Check answer</button>\n'
        '<div class="quiz-status" role="status"></div>\n'
        '<details class="quiz-answers"><summary>Answer and explanations</summary>\n'
    )


def _depart_explanations(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</details>\n")


def _visit_explanation(self: HTML5Translator, node: nodes.Element) -> None:
    right = " data-right" if node["right"] else ""
    self.body.append(
        f'<div class="quiz-explanation" data-option="{node["letter"]}"{right}>'
        f'<p class="quiz-verdict">{_verdict(node)}</p>\n'
    )


def _depart_explanation(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_node(quiz, html=(_visit_quiz, _depart_quiz))
    app.add_node(quiz_question, html=(_visit_question, _depart_question))
    app.add_node(quiz_option, html=(_visit_option, _depart_option))
    app.add_node(quiz_explanations, html=(_visit_explanations, _depart_explanations))
    app.add_node(quiz_explanation, html=(_visit_explanation, _depart_explanation))
    app.add_directive("quiz", QuizDirective)
    app.add_post_transform(PlainQuiz)
    app.connect("env-purge-doc", _forget_page)
    app.connect("env-merge-info", _merge)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
