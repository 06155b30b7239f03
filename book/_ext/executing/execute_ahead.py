"""Execute the pages in parallel on all cores before Sphinx reads them one after the other.

Executed pages go into the cache that MyST-NB consults when it reads a page. A page that fails is
not cached, so MyST-NB executes it again and reports the error.

Pages listed in the configuration value ``timed_pages`` measure time, so they are executed first,
one at a time.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.util import logging

from .warm_kernels import WarmKernels

if TYPE_CHECKING:
    from jupyter_cache.base import JupyterCacheAbstract
    from jupyter_cache.executors.utils import ExecutionResult
    from myst_nb.sphinx_ import SphinxEnvType
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)


def _notebook(env: SphinxEnvType, path: Path) -> NotebookNode | None:
    """Return the page as a notebook, or None if it is not one or overrides the settings."""
    text = path.read_text(encoding="utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    if reader is None:
        return None
    notebook = reader.read(text)
    return None if env.mystnb_config.metadata_key in notebook.metadata else notebook


def _is_cached(cache: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def _run(notebook: NotebookNode, folder: Path, timeout: int) -> ExecutionResult:
    # A kernel that is shut down may print an error, because the connection on which it reports
    # its end may already be closed.
    return single_nb_execution(notebook, str(folder), timeout, False, shutdown_kernel="immediate")


@functools.cache
def _kernels() -> WarmKernels:
    """Return what starts the kernels of this process."""
    return WarmKernels()


def _run_warm(notebook: NotebookNode, folder: Path, timeout: int) -> ExecutionResult:
    with _kernels().replace_others():
        return _run(notebook, folder, timeout)


def _execute(env: SphinxEnvType, paths: list[Path], pool: ProcessPoolExecutor) -> None:
    timeout = env.mystnb_config.execution_timeout
    cache = get_cache(env.mystnb_config.execution_cache_path)
    notebooks = {path: _notebook(env, path) for path in paths}
    new = {path: nb for path, nb in notebooks.items() if nb and not _is_cached(cache, nb)}
    run = _run_warm if len(new) > 1 else _run
    # The longest page first, so that it does not run alone at the end.
    longest_first = sorted(new, key=lambda path: path.stat().st_size, reverse=True)
    running = {pool.submit(run, new[path], path.parent, timeout): path for path in longest_first}
    for job in as_completed(running):
        if job.exception() is not None or job.result().err is not None:
            continue
        path, result = running[job], job.result()
        bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        logger.info("Executed %s in %.1f seconds", path.name, result.time)


def _execute_all(app: Sphinx, env: SphinxEnvType, docnames: list[str]) -> None:
    timed = [name for name in docnames if name in app.config.timed_pages]
    others = [name for name in docnames if name not in timed]
    # A forked process has its imports already, and shares no kernel connection with the others.
    context = get_context("fork")
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context) as pool:
        for names in (*([name] for name in timed), others):
            _execute(env, [Path(env.doc2path(name)) for name in names], pool)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension."""
    app.add_config_value("timed_pages", [], "env")
    app.connect("env-before-read-docs", _execute_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
