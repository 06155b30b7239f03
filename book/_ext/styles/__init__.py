"""Give all pages one style sheet and no script but our own.

The style sheet has what the pages can use of the theme's and of other extensions', then ours. The
theme's scripts are replaced by book/assets/page.js, and its icons by page.css.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError
from sphinx.util import logging

from ..formulas import fonts
from .plain_code import use_plain_code
from .reducing import PROPERTY, WORD, Names, compact, names_on_page, reduced

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

ASSETS = Path(__file__).resolve().parents[2] / "assets"
#: The name of the style sheet, which templates/static/webpack-macros.html has too.
STYLES = "book.css"
#: The style sheets of others, in the order in which pages would load them.
OTHERS = (
    "basic.css",
    "styles/pydata-sphinx-theme.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "mystnb.*.css",
    "sphinx-design.min.css",
)
#: Its address in a page, which gets a version when it has been written.
ADDRESS = re.compile(rf'(_static/{re.escape(STYLES)})[^"]*')
#: The theme's own, which imports basic.css and nothing else.
IMPORTING = "styles/theme.css"
#: Ours that only some pages ask for.
OF_SOME_PAGES = ("live.css",)
#: What the theme and other extensions put into _static and no page loads any more.
NOT_LOADED = (
    *("basic.css", "check-solid.svg", "clipboard.min.js", "copy-button.svg", "copybutton*"),
    *("design-tabs.js", "doctools.js", "documentation_options.js", "file.png", "images"),
    *("language_data.js", "locales", "minus.png", "mystnb.*.css", "plus.png", "pygments.css"),
    *("scripts", "searchtools.js", "sphinx-design.min.css", "sphinx_highlight.js", "styles"),
    *("vendor", "*.html"),
)
#: Icons, which page.css draws, and their fonts.
ICONS = re.compile(r"Font Awesome.*|(\.fa[\w-]*)+(::?(before|after))?")
FONT = re.compile(r"url\(katex/fonts/([\w-]+\.woff)\)")


def _defer_scripts(app: Sphinx, config: Config) -> None:
    config.html_js_files = [
        (name, {"defer": "defer"} | attributes) for name, attributes in config.html_js_files
    ]


def _choose_files(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    expected = {IMPORTING, *_ours(app)}
    for style in context.get("css_files", ()):
        name = str(style.filename).partition("_static/")[2].partition("?")[0]
        if name not in expected and not any(Path(name).match(other) for other in OTHERS):
            logger.warning(
                "a style sheet is in none of the lists in book/_ext/styles: %s. Add it to OTHERS.",
                name,
                type="styles",
            )
    context["css_files"] = []
    context["script_files"] = [
        script
        for script in context.get("script_files", ())
        if (ASSETS / str(script.filename).partition("_static/")[2].partition("?")[0]).is_file()
    ]


def _ours(app: Sphinx) -> dict[str, str]:
    """Return the names of our style sheets, each with the media it is for."""
    listed = {name: given.get("media", "") for name, given in app.config.html_css_files}
    return dict.fromkeys(OF_SOME_PAGES, "") | listed


def of_others(static: Path, record: Path) -> str:
    """Return the style sheets of others: Sphinx copies them only if it writes a page."""
    found = [sorted(static.glob(name)) for name in OTHERS]
    if not all(found):
        if record.is_file():
            return json.loads(record.read_text(encoding="utf-8"))["others"]
        raise ExtensionError(
            f"{static} lacks style sheets of the theme, and {record.name} is not there to tell "
            "what they were. Build all pages again: jupyter-book build . --all"
        )
    formulas = fonts.style_sheet().replace("url(fonts/", "url(katex/fonts/")
    sheets = [path.read_text(encoding="utf-8") for paths in found for path in paths]
    return "\n".join([*sheets, formulas])


def _own(app: Sphinx) -> str:
    own = []
    for name, media in _ours(app).items():
        css = compact((ASSETS / name).read_text(encoding="utf-8"))
        own.append(f"@media {media} {{ {css} }}" if media else css)
    return "\n".join(own)


def _pages(folder: Path) -> dict[Path, str]:
    return {
        path: path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }


def _write_styles(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    record = Path(app.outdir).parent / ".styles.json"
    others, ours = of_others(static, record), _own(app)
    pages = _pages(Path(app.outdir))
    texts = pages.values()
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.js"))
    names = Names(set().union(*map(names_on_page, texts)), set(WORD.findall(scripts)))
    read_elsewhere = set(PROPERTY.findall("\n".join([ours, scripts, *texts])))
    made_from = hashlib.sha256(
        "\n".join([others, ours, *sorted(read_elsewhere)]).encode()
    ).hexdigest()

    if not ((static / STYLES).is_file() and _is_current(record, made_from, names)):
        (static / STYLES).write_text(
            f"{reduced(others, names, read_elsewhere, ICONS)}\n{ours}\n", encoding="utf-8"
        )
        record.write_text(
            json.dumps(
                {"made_from": made_from, "answers": names.answers, "others": others, "ours": ours}
            ),
            encoding="utf-8",
        )
    _write_version(pages, hashlib.sha256((static / STYLES).read_bytes()).hexdigest()[:8])
    _write_fonts(static, set().union(*map(fonts.characters, texts)))
    for pattern in NOT_LOADED:
        for path in static.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_current(record: Path, made_from: str, names: Names) -> bool:
    """Return whether the style sheet was made from the same, and for pages with the same names."""
    if not record.is_file():
        return False
    made = json.loads(record.read_text(encoding="utf-8"))
    return made["made_from"] == made_from and all(
        (name in names) == answer for name, answer in made["answers"].items()
    )


def _write_version(pages: dict[Path, str], version: str) -> None:
    """Write into each page which style sheet it has, so that no browser shows it an old one."""
    for path, text in pages.items():
        with_version = ADDRESS.sub(rf"\g<1>?v={version}", text, count=1)
        if with_version != text:
            path.write_text(with_version, encoding="utf-8")


def _write_fonts(static: Path, shown: set[str]) -> None:
    """Write the fonts that the style sheet names, unless they are there with these characters."""
    folder = static / "katex" / "fonts"
    record = static.parent.parent / ".fonts.txt"
    named = set(FONT.findall((static / STYLES).read_text(encoding="utf-8")))
    wanted = "\n".join([*sorted(named), *sorted(shown)])
    is_current = record.is_file() and record.read_text(encoding="utf-8") == wanted
    if is_current and folder.is_dir():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for font in fonts.fonts():
        if font.name in named:
            (folder / font.name).write_bytes(fonts.reduced_font(font, shown))
    record.write_text(wanted, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    use_plain_code()
    # After Sphinx has made pairs of all entries, and after all others have added files to a page.
    app.connect("config-inited", _defer_scripts, priority=900)
    app.connect("html-page-context", _choose_files, priority=999)
    # The theme writes its colours of code when the build is finished.
    app.connect("build-finished", _write_styles, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
