"""Grade many notebooks side by side: the executor mapped over a class.

    for key, graded in grade_all([(key, notebook, lesson_id), ...], workers=2):
        ...  # a GradedNotebook, or the exception that the grader failed with

Any `concurrent.futures.Executor` will do. By default it is a pool of processes, each exec'd (never
forked from here) and with a fork server of its own; `dask` names a scheduler whose workers have
this checkout. A worker that dies takes nothing along: its notebooks are graded again, each once.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from course.grading.apart import require_sandbox, warm_server
from course.grading.executor import LIMITS, GradedNotebook, Limits, grade_notebook

Job = tuple[Hashable, Mapping[str, Any], str]

# A notebook with which the worker died this often is the cause of it.
_ATTEMPTS = 3
# Redirected streams and warnings belong to a whole process: one notebook at a time in each.
_ONE_AT_A_TIME = threading.Lock()


class WorkerDied(RuntimeError):
    """The worker died each time that it graded this notebook."""


@dataclass
class _Waiting:
    key: Hashable
    notebook: Mapping[str, Any]
    lesson: str
    attempts: int = 0


def grade_all(
    jobs: Iterable[Job],
    *,
    workers: int | None = None,
    dask: str | None = None,
    trusted: bool = False,
    limits: Limits = LIMITS,
    started: Executor | None = None,
) -> Iterator[tuple[Any, GradedNotebook | Exception]]:
    """Grade every notebook once; yields `(key, graded)` in the order in which they are done.

    Args:
      jobs: `(key, notebook, lesson id)`; taken only as fast as they are graded.
      workers: processes on this machine; one for each processor unless given.
      dask: address of a Dask scheduler to use instead.
      trusted: `--trust-submissions`.
      started: workers of `start_workers`, to be used first.

    Raises:
      SandboxMissing: this machine cannot confine submissions, and they are not trusted.
    """
    if dask is not None:
        with _dask(dask) as (make, width):
            yield from _graded(jobs, make, width, trusted, limits)
        return
    require_sandbox(trusted)
    count = workers or os.cpu_count() or 1
    if count == 1:
        for key, notebook, lesson in jobs:
            try:
                yield key, grade_one(notebook, lesson, trusted, limits)
            except Exception as trouble:
                yield key, trouble
        return
    first = [] if started is None else [started]

    def workers_again() -> Executor:
        return first.pop() if first else _workers(count, trusted)

    yield from _graded(jobs, workers_again, count, trusted, limits)


@contextmanager
def start_workers(workers: int | None, trusted: bool) -> Iterator[Executor | None]:
    """Workers for `grade_all` that get ready meanwhile; `None` where this process is enough.

    Raises:
      SandboxMissing: this machine cannot confine submissions, and they are not trusted.
    """
    require_sandbox(trusted)
    count = workers or os.cpu_count() or 1
    if count == 1:
        yield None
        return
    pool = _workers(count, trusted)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _workers(count: int, trusted: bool) -> ProcessPoolExecutor:
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=spawn, initializer=_begin_worker)
    for _ in range(count):
        pool.submit(_get_ready, trusted)
    return pool


def _get_ready(trusted: bool) -> None:
    """What a worker needs for its first notebook; a fork server must not travel back."""
    warm_server(trusted)


def _begin_worker() -> None:
    """A worker ends when it is told to, or when the process that it works for has ended.

    Ctrl-C in a terminal reaches every process of the command; only the first one is to answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _end_worker())
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _end_worker()


def _end_worker() -> None:
    atexit._run_exitfuncs()  # the fork server and its scratch folders
    os._exit(1)


def grade_one(
    notebook: Mapping[str, Any], lesson: str, trusted: bool, limits: Limits
) -> GradedNotebook:
    """What a worker does. The cases behind a result stay in the worker."""
    with _ONE_AT_A_TIME:
        graded = grade_notebook(notebook, lesson, limits=limits, trust_submissions=trusted)
    for result in graded.results:
        for part in result.parts:
            part.failed = []
    return graded


def _graded(
    jobs: Iterable[Job],
    make: Callable[[], Executor],
    width: int,
    trusted: bool,
    limits: Limits,
) -> Iterator[tuple[Any, GradedNotebook | Exception]]:
    """Keep twice as many notebooks under way as there are workers; replace a broken pool."""
    source = iter(jobs)
    again: list[_Waiting] = []
    running: dict[Future[GradedNotebook], _Waiting] = {}
    pool = make()
    try:
        while True:
            while len(running) < 2 * width:
                # A notebook that was with a worker that died is graded alone: if it dies again,
                # this was the one.
                if again and running:
                    break
                item = again.pop() if again else _next(source)
                if item is None:
                    break
                item.attempts += 1
                try:
                    future = pool.submit(grade_one, item.notebook, item.lesson, trusted, limits)
                except RuntimeError:  # the pool broke between two results
                    pool = _renewed(pool, make)
                    future = pool.submit(grade_one, item.notebook, item.lesson, trusted, limits)
                running[future] = item
                if item.attempts > 1:
                    break
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            broken = False
            for future in done:
                item = running.pop(future)
                trouble = future.exception() if not future.cancelled() else None
                if trouble is None and not future.cancelled():
                    yield item.key, future.result()
                elif future.cancelled() or _worker_died(trouble):
                    broken = True
                    if item.attempts >= _ATTEMPTS:
                        yield item.key, WorkerDied(f"the worker died {item.attempts} times")
                    else:
                        again.append(item)
                else:
                    assert isinstance(trouble, Exception)
                    yield item.key, trouble
            if broken:
                again += running.values()
                running.clear()
                pool = _renewed(pool, make)
    finally:
        _stop(pool, running)


def _next(source: Iterator[Job]) -> _Waiting | None:
    job = next(source, None)
    return None if job is None else _Waiting(*job)


def _renewed(pool: Executor, make: Callable[[], Executor]) -> Executor:
    pool.shutdown(wait=False)
    return make()


def _stop(pool: Executor, running: Iterable[Future[GradedNotebook]]) -> None:
    busy = [future for future in running if not future.cancel()]
    if busy and isinstance(pool, ProcessPoolExecutor):
        # Interrupted: what they are at nobody waits for, and it may take minutes.
        for process in list((pool._processes or {}).values()):
            process.terminate()
    pool.shutdown(wait=True)


def _worker_died(trouble: BaseException | None) -> bool:
    from concurrent.futures.process import BrokenProcessPool

    return isinstance(trouble, BrokenProcessPool) or type(trouble).__name__ in (
        "KilledWorker",
        "CancelledError",
    )


@contextmanager
def _dask(address: str) -> Iterator[tuple[Callable[[], Executor], int]]:
    """An executor of a Dask cluster, and how many threads its workers have."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        threads = sum(client.nthreads().values())
        # The same call for the same notebook must run again after a failure: results are not pure.
        yield lambda: client.get_executor(pure=False), max(threads, 1)
