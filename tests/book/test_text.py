"""Spelling, prose and vocabulary of all texts for readers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import prose

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))
TEXTS = [*PAGES, *sorted(ROOT.glob("*.md"))]

for_each_text = pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)

# Variants of a term that this course does not use, with the form that it uses.
VARIANTS = {
    r"\b[Kk][Vv][ -]?cache\w*": "key/value cache",
    r"\b[Ss]oft[- ][Mm]ax\w*|\bSoftMax\w*": "softmax",
    r"\b[Dd]otproduct\w*": "dot product",
    r"\b[Bb]ack-?prop\w*": "backward pass",
    r"\b[Ll]og[- ]?[Ss]um[- ]?[Ee]xp\b(?<!log-sum-exp)(?<!Log-sum-exp)": "log-sum-exp",
    r"\b[Mm]atmul\w*": "matrix product",
    r"\b[Ll]ook-up\w*": "lookup",
    r"\b[Oo]n-line\b": "online",
    r"\b[Pp]er ?cent\b": "%",
    r"\b(?:numpy|Numpy)\b": "NumPy",
    r"\b(?:pytorch|Pytorch)\b": "PyTorch",
    r"\b(?:Jupyter Lab|Jupyterlab|jupyterlab)\b": "JupyterLab",
    r"\b[Bb]oolian\w*|\bBoolean mask": "boolean mask",
    r"\b(?:top left|bottom right)\b": "top-left, bottom-right",
    r"\b[Oo]ne hot\b": "one-hot",
    r"\b[Ff]loating point (?:number|operation)s?\b": "floating-point",
    # British spelling throughout.
    r"\b\w*(?:normaliz|optimiz|initializ|generaliz)\w*": "-is-",
    r"\b(?:\w*(?:behavior|neighbor|colored|coloring)\w*|colors?|gray)\b": "-our, grey",
}


def glossary_terms() -> list[str]:
    """Return the terms in the order of the glossary."""
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    inner = re.search(r"^:::\{glossary\}\n(.*?)^:::", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^(\S.*)$", inner, re.MULTILINE)


def other_hyphenations(term: str) -> str:
    """Return a pattern for the term with other hyphens or spaces than in the glossary."""
    parts = "[-/ ]?".join(re.split(r"[-/]", term))
    return rf"\b(?i:(?!{re.escape(term)}){parts})\b"


def test_words_are_spelt_right():
    command = Path(sys.executable).with_name("codespell")
    run = subprocess.run([command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_misspelt_word_is_found(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    misspelt = "".join(["w", "ieg", "hts"])
    (tmp_path / "page.md").write_text(f"The {misspelt} are positive.\n", encoding="utf-8")
    command = Path(sys.executable).with_name("codespell")
    run = subprocess.run([command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert misspelt in run.stdout


@for_each_text
def test_prose_passes_the_checks(path):
    text = path.read_text(encoding="utf-8")
    assert list(prose.findings(path.relative_to(ROOT), text, prose.settings())) == []


@for_each_text
def test_a_term_is_always_written_the_same_way(path):
    text = prose.prose(path.read_text(encoding="utf-8"))
    forms = VARIANTS | {
        other_hyphenations(term): term for term in glossary_terms() if re.search(r"[-/]", term)
    }
    found = [
        f"{match.group()!r}: write {right!r}"
        for pattern, right in forms.items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("term", "others", "fitting"),
    [
        (
            "self-attention",
            ["self attention", "Selfattention", "self/attention"],
            ["self-attention", "Self-attention", "itself attention"],
        ),
        (
            "key/value cache",
            ["key-value cache", "key value cache"],
            ["key/value cache", "key and value", "key/value head"],
        ),
    ],
)
def test_other_hyphenations_of_a_term_are_noticed(term, others, fitting):
    pattern = other_hyphenations(term)
    assert [text for text in others if not re.search(pattern, text)] == []
    assert [text for text in fitting if re.search(pattern, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "a KV cache", "kv-cache", "soft-max", "log sum exp", "backpropagation", "Numpy",
        "normalized", "one hot", "Jupyter Lab", "50 percent", "matmul",
    ],
)  # fmt: skip
def test_other_forms_of_a_term_are_noticed(text):
    assert [pattern for pattern in VARIANTS if re.search(pattern, text)] != []


def test_the_glossary_is_sorted_without_duplicates():
    terms = glossary_terms()
    assert len(terms) > 50
    assert len({term.casefold() for term in terms}) == len(terms)
    assert terms == sorted(terms, key=lambda term: term.casefold().replace("_", ""))


def test_no_text_contains_placeholders():
    # Placeholders for text that is still to be written.
    placeholder = re.compile(r"\b(?:TODO|FIXME|TBD|XXX|lorem ipsum|coming soon)\b", re.IGNORECASE)
    for path in TEXTS:
        assert placeholder.findall(path.read_text(encoding="utf-8")) == [], path.name
