"""Reduce style sheets to the rules that some page can use.

A rule stays if every tag, class, id and attribute that its selector asks for is a name in use: it
stands on a page, or a script of ours may set it. Whether all of them ever meet in one element is
not asked, so a rule too many stays now and then, and none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import tinycss2

TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
ATTRIBUTE = re.compile(r"([a-zA-Z][\w:-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")
WORD = re.compile(r"[\w-]+")
PROPERTY = re.compile(r"--[\w-]+")
NOTHING = re.compile(r"(?!)")
#: At-rules whose content is a list of rules again.
NESTING = {"media", "supports", "layer", "container"}
#: What a browser takes for granted, whether or not a page writes it.
ALWAYS = {"html", "head", "body", "[class]", "[style]", "[open]", "[hidden]"}


def names_on_page(html: str) -> set[str]:
    """Return the names of a page by which selectors can find its elements.

    Examples
    --------
    >>> sorted(names_on_page('<p id="a" class="b c">1 < 2 <br></p>'))
    ['#a', '.b', '.c', '[class]', '[id]', 'br', 'p']
    """
    names = set()
    for tag, attributes in set(TAG.findall(html)):
        names.add(tag.lower())
        for name, *values in ATTRIBUTE.findall(attributes):
            names.add(f"[{name.lower()}]")
            if name == "class":
                names.update(f".{one}" for one in "".join(values).split())
            elif name == "id":
                names.add(f"#{''.join(values)}")
    return names


@dataclass
class Names:
    """The names in use.

    It notes in `answers` what it was asked for: as long as the answers stay, so does what they
    were asked for.

    Parameters
    ----------
    pages : set of str
        As `names_on_page` returns them.
    script_words : set of str
        All words of the scripts. Any may be a tag, class, id or attribute that a script sets. One
        that ends with a hyphen may be the beginning of such a name.
    """

    pages: set[str]
    script_words: set[str] = field(default_factory=set)
    answers: dict[str, bool] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        """Return whether an element can have this name.

        Examples
        --------
        >>> names = Names({"p", ".b"}, {"open", "live-"})
        >>> [name in names for name in ("p", ".b", "i", ".open", ".live-tip", ".shut")]
        [True, True, False, True, True, False]
        """
        if name not in self.answers:
            self.answers[name] = self._answer(name)
        return self.answers[name]

    def _answer(self, name: str) -> bool:
        word = name.strip("#.[]")
        known = name in self.pages or name in ALWAYS or name == "*" or word in self.script_words
        return known or word.startswith(self._starts)

    @cached_property
    def _starts(self) -> tuple[str, ...]:
        return tuple(word for word in self.script_words if re.search(r"\w-$", word))


def _selectors(tokens: list[Any]) -> Iterator[list[Any]]:
    """Split a list of selectors at its commas."""
    selector: list[Any] = []
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            yield selector
            selector = []
        else:
            selector.append(token)
    yield selector


def _is_usable(selector: list[Any], names: Names) -> bool:
    before = ""
    for token in selector:
        if token.type == "hash":
            name = f"#{token.value}"
        elif token.type == "[] block":
            first = next((part for part in token.content if part.type == "ident"), None)
            name = f"[{first.lower_value}]" if first else "*"
        elif token.type == "ident" and before == ".":
            name = f".{token.value}"
        elif token.type == "ident" and before != ":":
            name = token.lower_value
        elif token.type == "function" and token.lower_name in {"is", "where"}:
            if not any(_is_usable(one, names) for one in _selectors(token.arguments)):
                return False
            name = "*"
        else:
            name = "*"  # `:not()` and the like ask for nothing that has to be there
        if name not in names:
            return False
        before = token.value if token.type == "literal" else ""
    return True


def _parsed(css: str | list[Any]) -> list[Any]:
    return tinycss2.parse_rule_list(css, skip_comments=True, skip_whitespace=True)


def _text(tokens: list[Any]) -> str:
    """Return the text of tokens without comments, and with single blanks."""
    text = tinycss2.serialize([token for token in tokens if token.type != "comment"])
    return re.sub(r"\s+", " ", text).strip()


def _declarations(content: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each declaration of a rule."""
    for item in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if item.type == "declaration":
            important = "!important" if item.important else ""
            yield item.name, f"{item.name}:{_text(item.value)}{important}"
        else:
            yield "", _text([item])


def _reduced(
    rules: list[Any], names: Names, replaced: re.Pattern[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the rules that stay: each prelude, with declarations, or with rules in a list."""
    for rule in rules:
        if rule.type == "qualified-rule":
            usable = [
                text
                for one in _selectors(rule.prelude)
                if not replaced.fullmatch(text := _text(one)) and _is_usable(one, names)
            ]
            if usable and (declarations := tuple(_declarations(rule.content))):
                yield ",".join(usable), declarations
        elif rule.type == "at-rule":
            head = f"@{rule.lower_at_keyword} {_text(rule.prelude)}".strip()
            if rule.lower_at_keyword in NESTING and rule.content is not None:
                inner = list(_reduced(_parsed(rule.content), names, replaced))
                if inner:
                    yield head, inner
            elif rule.lower_at_keyword == "page":
                yield head, tuple(_declarations(rule.content))
            elif rule.lower_at_keyword == "font-face":
                face = tuple(_declarations(rule.content))
                if not replaced.fullmatch(_family(face)):
                    yield head, face
            elif rule.lower_at_keyword.endswith("keyframes"):
                yield head, _text(rule.content)


def _properties(rules: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the declarations of rules."""
    for _, content in rules:
        if isinstance(content, tuple):
            yield from content
        elif isinstance(content, list):
            yield from _properties(content)
        else:
            yield "", content


def _used_properties(rules: list[tuple[str, Any]], elsewhere: set[str]) -> set[str]:
    """Return the custom properties that something reads, directly or through others."""
    reads: dict[str, set[str]] = {}
    used = set(elsewhere)
    for name, text in _properties(rules):
        found = set(PROPERTY.findall(text.partition(":")[2] if name else text))
        if name.startswith("--"):
            reads.setdefault(name, set()).update(found)
        else:
            used |= found
    queue = list(used)
    while queue:
        new = reads.get(queue.pop(), set()) - used
        used |= new
        queue += new
    return used


def _written(rules: list[tuple[str, Any]], properties: set[str], names_of_fonts: str) -> str:
    parts = []
    for head, content in rules:
        if isinstance(content, list):
            body = _written(content, properties, names_of_fonts)
        elif isinstance(content, tuple):
            if head == "@font-face" and _family(content) not in names_of_fonts:
                continue
            body = ";".join(
                text for name, text in content if not name.startswith("--") or name in properties
            )
        else:
            body = content if head.split()[-1] in names_of_fonts else ""
        if body:
            parts.append(f"{head}{{{body}}}")
    return "\n".join(parts)


def _family(face: tuple[tuple[str, str], ...]) -> str:
    """Return the name that a font-face gives its font."""
    return dict(face).get("font-family", "").partition(":")[2].replace("\\", "").strip("\"' ")


def compact(css: str) -> str:
    """Return a style sheet with all its rules, without comments and indentation.

    Examples
    --------
    >>> compact("/* Red. */ p > i  { color: red; }")
    'p > i { color: red; }'
    """
    return _text(tinycss2.parse_component_value_list(css, skip_comments=True))


def reduced(
    css: str, names: Names, properties: set[str], replaced: re.Pattern[str] = NOTHING
) -> str:
    """Return a style sheet with what pages can use of it.

    Parameters
    ----------
    css : str
    names : Names
        The names in use.
    properties : set of str
        Custom properties, such as ``--colour``, that something outside of this style sheet reads.
    replaced : Pattern
        Selectors and names of fonts to leave out, because something else replaces them.

    Examples
    --------
    >>> css = ":root { --a: 1px; --b: var(--a); --c: 2px } p, i { top: var(--b) } i { left: 0 }"
    >>> print(reduced(css, Names({"p"}), set()))
    :root{--a:1px;--b:var(--a)}
    p{top:var(--b)}
    """
    rules = list(_reduced(_parsed(css), names, replaced))
    used = _used_properties(rules, properties)
    mentioned = "\n".join(
        text
        for head, content in _flat(rules)
        if head != "@font-face"
        for name, text in content
        if name in {"font", "font-family", "animation", "animation-name"} or name in used
    )
    return _written(rules, used, mentioned)


def _flat(rules: list[tuple[str, Any]]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    for head, content in rules:
        if isinstance(content, tuple):
            yield head, content
        elif isinstance(content, list):
            yield from _flat(content)
