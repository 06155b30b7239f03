"""Renders learners' texts one by one, each within limits, and puts them into a page.

nbconvert's templates get a stand-in for each text and picture, so all that handles the whole page
handles only its frame. What a learner wrote is put in at the end.

Defends against texts that need much time or memory to render, or become much longer: such a text
is shown as it was typed, with a remark. A long text, or one with many tags, is rendered in a
process of its own, whose limits the kernel enforces; a short one is stopped by a timer.

Does not defend against a program that a short text makes crash. This process then dies, and
whoever started it asks for the page with `plain`, in which nothing is rendered.
"""

from __future__ import annotations

import contextlib
import html
import math
import os
import re
import resource
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from grader.judging.bounds import TookTooMuch, cpu_seconds, memory_mib

#: Processor time for one text, and for all texts of a page that need a process or a timer.
SECONDS = 2.0
SECONDS_OF_A_PAGE = 8.0

#: Processor time after which the kernel ends the process that makes a page.
SECONDS_TO_LIVE = 20

#: Memory that the process may use for a page, besides what it uses before.
MIB = 192

#: A longer text is rendered in a process of its own, and so is one with more tags than this.
MAX_LENGTH_HERE = 10_000
MAX_TAGS_HERE = 500

#: Maximum lengths of HTML: of one text, of all texts of a page, and of all its pictures.
MAX_HTML = 4 * 2**20
MAX_HTML_OF_A_PAGE = 8 * 2**20
MAX_PICTURES_OF_A_PAGE = 16 * 2**20

#: Characters that are shown of a text that is not rendered.
MAX_TYPED = 100_000

#: An embedded picture in a text. Pictures are taken out because they make everything slower.
_PICTURE = re.compile(r"(?<=;base64,)[A-Za-z0-9+/]{2000,}+={0,2}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_SPACE = " \n\t\f\r"

_IMG = re.compile(r"<img(?: [\w-]+=\"[^\"]*\")*\s?/?>")
_ALT = re.compile(r' alt="([^"]*)"')


@dataclass
class Rendering:
    """The learners' texts and pictures of one page.

    Parameters
    ----------
    plain : bool
        Whether to show every text as it was typed.
    """

    plain: bool = False
    remarks: list[str] = field(default_factory=list)  #: why texts are shown as they were typed
    _texts: list[str] = field(default_factory=list)
    _stand_ins: set[str] = field(default_factory=set)
    _pictures: list[tuple[str, str]] = field(default_factory=list)
    _mark: str = field(default_factory=lambda: f"x{secrets.token_hex(16)}")
    _seconds: float = field(default_factory=lambda: SECONDS_OF_A_PAGE)
    _room: int = field(default_factory=lambda: MAX_HTML_OF_A_PAGE)

    def text(
        self,
        source: str,
        render: Callable[[str], str],
        clean: Callable[[str], str],
        *,
        flat: bool = False,
        where: str = "a text",
        typed: str = "<pre>{}</pre>",
    ) -> str:
        """Render a text and return its stand-in.

        Parameters
        ----------
        source : str
            What the learner wrote.
        render : callable
            Makes HTML from it.
        clean : callable
            Makes the HTML safe. Its time may grow with the square of the depth of the tags, and a
            timer cannot stop it, because it is not written in Python.
        flat : bool
            Whether the tags of the HTML are certainly not nested, whatever the learner wrote.
        where : str
            What the text is, for the remark.
        typed : str
            HTML around the text if it is shown as it was typed.
        """
        try:
            shown = self._within_limits(source, render, clean, flat)
        except TookTooMuch as stopped:
            shown = self._typed(source, str(stopped), where, typed)
        except Exception as error:
            why = f"rendering it raised {type(error).__name__}"
            shown = self._typed(source, why, where, typed)
        return self.ready(shown)

    def ready(self, shown: str) -> str:
        """Return the stand-in for HTML that is ready to be shown.

        A parser treats the space around text and around elements differently. So the stand-in
        begins and ends with an element where the HTML does, and white space stays outside of it.
        """
        core = shown.strip(_SPACE)
        if not core:
            return shown
        self._room -= len(core)
        before, _, after = shown.partition(core)
        self._texts.append(core)
        begin, end = f"{self._mark}t{len(self._texts) - 1}x", f"{self._mark}end"
        begin = f'<i id="{begin}"></i>' if core[0] == "<" else begin
        end = f'<i id="{end}"></i>' if core[-1] == ">" else end
        stand_in = f"{before}{begin}{end}{after}"
        self._stand_ins.add(stand_in)
        return stand_in

    def is_stand_in(self, text: str) -> bool:
        """Say whether the text is a stand-in from here."""
        return text in self._stand_ins

    def picture(self, data: str, name: str = "") -> str:
        """Return the stand-in for a picture in base64, or "" if the data are not base64."""
        if not _BASE64.fullmatch(data):
            return ""
        self._pictures.append((data, name))
        return f"{self._mark}p{len(self._pictures) - 1}x"

    def without_pictures(self, text: str) -> str:
        """Replace long pictures embedded in a text by their stand-ins."""
        return _PICTURE.sub(lambda found: self.picture(found[0]), text)

    def fill(self, page: str) -> str:
        """Put texts and pictures into the page in place of their stand-ins."""
        page = re.sub(
            rf'(?:<i id="{self._mark}t(\d+)x"></i>|{self._mark}t(\d+)x)'
            rf'(?:<i id="{self._mark}end"></i>|{self._mark}end)',
            lambda found: self._texts[int(found[1] or found[2])],
            page,
        )
        room = MAX_PICTURES_OF_A_PAGE
        stand_in = re.compile(rf"{self._mark}p(\d+)x")

        def put_picture(tag: re.Match[str]) -> str:
            nonlocal room
            found = stand_in.search(tag[0])
            if found is None:
                return tag[0]
            data, name = self._pictures[int(found[1])]
            room -= len(data)
            if room >= 0:
                return tag[0].replace(found[0], data)
            alt = _ALT.search(tag[0])
            name = html.escape(name) or (alt[1] if alt else "") or "without a name"
            return f"<em>[the picture {name} is left out: the pictures are too large]</em>"

        page = _IMG.sub(put_picture, page)
        return stand_in.sub(lambda found: f"{self._pictures[int(found[1])][0][:40]}…", page)

    def _within_limits(
        self,
        source: str,
        render: Callable[[str], str],
        clean: Callable[[str], str],
        flat: bool,
    ) -> str:
        if self.plain:
            raise TookTooMuch("no text of this page could be rendered")
        seconds = min(SECONDS, self._seconds)
        if seconds < SECONDS / 20:
            raise TookTooMuch(f"other texts took {SECONDS_OF_A_PAGE:g} s of processor time")
        begun = _processor_time()
        try:
            if len(source) > MAX_LENGTH_HERE:
                shown = in_own_process(lambda: clean(render(source)), seconds)
            else:
                with cpu_seconds(seconds):
                    made = render(source)
                    if flat or made.count("<") <= MAX_TAGS_HERE:
                        shown = clean(made)
                    else:
                        shown = in_own_process(lambda: clean(made), seconds)
        except MemoryError:
            raise TookTooMuch("it took too much memory") from None
        finally:
            self._seconds -= _processor_time() - begun
        if len(shown) > MAX_HTML or len(shown) > self._room:
            raise TookTooMuch("it became too long")
        return shown

    def _typed(self, source: str, why: str, where: str, typed: str) -> str:
        self.remarks.append(f"{where[0].upper()}{where[1:]} is shown as it was typed: {why}.")
        length = max(0, min(MAX_TYPED, self._room // 6))  # one character may become six: &quot;
        rest = len(source) - length
        more = f"\n[{rest:,} more characters are left out]" if rest > 0 else ""
        text = f"[shown as it was typed: {why}]\n{source[:length]}{more}"
        return typed.format(html.escape(_CONTROL.sub("�", text)))


def in_own_process(work: Callable[[], str], seconds: float) -> str:
    """Return what a function returns in a fork of this process.

    Parameters
    ----------
    work : callable
    seconds : float
        Processor time after which the kernel ends the fork.

    Raises
    ------
    TookTooMuch
        If it returned nothing.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process
            signal.setitimer(signal.ITIMER_PROF, seconds)
            text = work().encode("utf-8", "surrogatepass")
            status = 2
            if len(text) <= 4 * MAX_HTML:
                with open(writing, "wb") as pipe:  # noqa: PTH123
                    pipe.write(text)
                status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123
        text = pipe.read()
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    if status == 0:
        return text.decode("utf-8", "surrogatepass")
    if status == 2:
        raise TookTooMuch("it became too long")
    if status == -signal.SIGPROF:
        raise TookTooMuch(f"it took more than {seconds:g} s of processor time")
    raise TookTooMuch("it took too much memory or could not be rendered")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Limit what this process may use for a page.

    If the block needs more memory, the process exits: it would be short of memory from then on.
    If it needs more than `SECONDS_TO_LIVE`, the kernel ends the process.
    """
    used = math.ceil(time.process_time())
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    cores = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS_TO_LIVE, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, cores[1]))
    try:
        with memory_mib(MIB):
            yield
    except MemoryError:
        sys.exit(f"A page took more than {MIB} MiB of memory.")
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, cores)


def _processor_time() -> float:
    """Return the processor time of this process and its forks, in seconds."""
    forks = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + forks.ru_utime + forks.ru_stime
