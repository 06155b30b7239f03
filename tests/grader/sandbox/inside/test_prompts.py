"""What asks a person fails at once, in words, and quotes no line of the grader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.sandbox.inside import prompts, shell

ASKING = {
    "input": "input('name: ')",
    "input in a function": "def f():\n    return input()\nf()",
    "input as an argument": "list(map(input, 'ab'))",
    "getpass": "from getpass import getpass\ngetpass()",
    "breakpoint": "breakpoint()\nx = 1",
    "breakpoint in a function": "def f():\n    breakpoint()\n    return 1\nf()",
    "pdb": "import pdb\npdb.set_trace()\nx = 1",
    "pdb, which runs a statement": "import pdb\npdb.run('1 + 1')",
    "the debugger of IPython": "from IPython.core.debugger import set_trace\nset_trace()\nx = 1",
    "a console": "import code\ncode.interact()",
    "the console of IPython": "from IPython import embed\nembed()",
    "behind another error": "try:\n    input()\nexcept Exception as e:\n    raise OSError from e",
    "while another is handled": "try:\n    1 / 0\nexcept Exception:\n    input()",
    "in a group": "try:\n    input()\nexcept Exception as e:\n    raise ExceptionGroup('g', [e])",
    "in a text of an object": "class A:\n    def __repr__(self):\n        return input()\nA()",
    "printed by the learner": (
        "import traceback\ntry:\n    input()\nexcept Exception:\n    traceback.print_exc()"
    ),
    "in a thread": "import threading\nt = threading.Thread(target=input)\nt.start()\nt.join()",
    "by the hook": (
        "import sys\ntry:\n    input()\nexcept Exception:\n    sys.excepthook(*sys.exc_info())"
    ),
}
#: What fails in code of the grader without asking.
OTHERS = {
    "a number written": "import sys\nsys.stdout.write(3)",
    "a number written, printed by the learner": (
        "import sys, traceback\ntry:\n    sys.stdout.write(3)\nexcept Exception:\n"
        "    traceback.print_exc()"
    ),
    "no command": "get_ipython().system(3)",
    "an error that fails when it is read": (
        "class E(Exception):\n    __cause__ = property(lambda self: 1 / 0)\nraise E('mine')"
    ),
    "a recursion without end": "def f():\n    f()\nf()",
}
OURS = [
    line.strip()
    for module in (prompts, shell)
    for line in Path(module.__file__).read_text("utf-8").splitlines()
    if re.match(r" +(raise |return |self\.|last\[)", line)
]


def said(session, source: str) -> str:
    texts = []
    for output in session.execute("a", source).outputs:
        texts += [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
    return "\n".join(texts)


def test_what_asks_fails_in_words_and_quotes_no_line_of_the_grader(session):
    assert len(OURS) > 20
    for name, source in (ASKING | OTHERS).items():
        text = said(session, source)
        assert ("there is nobody to ask: " in text) == (name in ASKING), (name, text)
        assert "inside/" not in text, (name, text)
        assert not any(line in text for line in OURS), (name, text)


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("import sys\nprint(repr(sys.stdin.read()), list(sys.stdin))", "'' []"),
        ("%pdb on\nprint(1)\n%pdb off", "Automatic pdb calling has been turned ON\n1"),
        ("%debug\nprint(2)", "2"),
    ],
)
def test_what_can_do_without_a_person_goes_on(session, source, printed):
    assert printed in said(session, source)
