"""What a forked child must not share with its parent is renewed here, in the child, before anything else runs."""

from __future__ import annotations

import os
import sys
import weakref
from typing import Any, Callable

_renewed: weakref.WeakSet[Any] = weakref.WeakSet()
_hooks: list[Callable[[], None]] = []
_forked = False


def renew_after_fork(thing: Any) -> None:
    """Calls `thing.after_fork()` in each child that is forked while `thing` lives."""
    _renewed.add(thing)


def call_after_fork(hook: Callable[[], None]) -> None:
    """Calls `hook` in each forked child."""
    _hooks.append(hook)


def child_suffix() -> str | None:
    """What tells this process from its siblings of the same program: its pid if it is a child of one, else None."""
    return str(os.getpid()) if _forked or is_multiprocessing_child() else None


def is_multiprocessing_child() -> bool:
    """Whether `multiprocessing` started this process."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    parent = getattr(multiprocessing, "parent_process", None)
    return parent is not None and parent() is not None


def _in_child() -> None:
    global _forked
    _forked = True
    for hook in _hooks:
        hook()
    for thing in list(_renewed):
        thing.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
