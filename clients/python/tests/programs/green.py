"""A pool of Celery's that says it is made of greenlets, as gevent's and eventlet's do."""

from __future__ import annotations

from celery.concurrency.solo import TaskPool as SoloPool


class TaskPool(SoloPool):
    is_green = True
