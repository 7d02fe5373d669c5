"""What the gate does at Dramatiq's Redis broker, by the broker's own rules."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator

import dramatiq
import pytest
from dramatiq.brokers.redis import RedisBroker
from support.broker import Broker
from support.until import until

from fleetgate import Fleet
from fleetgate.dramatiq import FleetgateMiddleware
from fleetgate.dramatiq.consumer import GatedConsumer
from fleetgate.dramatiq.pulse import Pulse
from fleetgate.dramatiq.worker import GatedWorker

QUEUE = "render"


class Desk:
    """A consumer with the broker and the worker behind it."""

    def __init__(self, url: str, fleet: Fleet) -> None:
        self.url = url
        self.broker = RedisBroker(url=url)
        self.broker.add_middleware(FleetgateMiddleware(fleet))
        self.actor = dramatiq.actor(print, actor_name=QUEUE, queue_name=QUEUE, broker=self.broker)
        self.worker = GatedWorker(self.broker, fleet.join("eu", "w", keeper="thread"), 2, None, 5.0)
        self.consumer = GatedConsumer(self.worker, QUEUE, 100)

    def fetch(self) -> dramatiq.MessageProxy:
        message = until(lambda: next(self.consumer), "a message")
        assert message is not None
        return message

    def takes_the_worker_for_dead(self) -> None:
        """As another worker would, after a heartbeat_timeout of 1 ms."""
        time.sleep(0.01)
        other = RedisBroker(url=self.url, heartbeat_timeout=1, maintenance_chance=1_000_000)
        other.do_qsize(QUEUE)
        other.client.connection_pool.disconnect()

    def state(self) -> tuple[int, int]:
        """How many messages wait, and how many are not done."""
        client = self.broker.client
        return int(client.llen(f"dramatiq:{QUEUE}")), int(client.hlen(f"dramatiq:{QUEUE}.msgs"))


@pytest.fixture
def desk(broker: Broker, fleet: Fleet) -> Iterator[Desk]:
    made = Desk(broker.url, fleet)
    yield made
    made.worker.end()
    made.broker.client.connection_pool.disconnect()


def test_a_message_goes_back_to_the_front_once(desk: Desk) -> None:
    first = desk.actor.send(1)
    desk.actor.send(2)
    message = desk.fetch()
    assert desk.state() == (1, 2)
    desk.consumer.requeue([message])
    desk.consumer.requeue([message])
    assert desk.state() == (2, 2)
    assert desk.fetch().message_id == first.message_id


def test_no_more_is_fetched_than_threads_are_free(desk: Desk) -> None:
    for number in range(3):
        desk.actor.send(number)
    first, _ = desk.fetch(), desk.fetch()
    assert next(desk.consumer) is None
    assert desk.state() == (1, 3)
    desk.consumer.ack(first)
    assert desk.fetch().args == (2,)


def test_what_was_delivered_to_another_meanwhile_is_not_put_back(desk: Desk) -> None:
    desk.actor.send()
    message = desk.fetch()
    desk.takes_the_worker_for_dead()
    assert desk.state() == (1, 1)
    desk.consumer.requeue([message])
    assert desk.state() == (1, 1)


def test_of_two_deliveries_of_one_message_in_one_process_only_the_later_ends_it(desk: Desk) -> None:
    desk.actor.send()
    earlier = desk.fetch()
    desk.takes_the_worker_for_dead()
    later = desk.fetch()
    assert later.message_id == earlier.message_id
    desk.consumer.ack(earlier)
    assert desk.state() == (0, 1)
    desk.consumer.ack(later)
    assert desk.state() == (0, 0)


def test_a_worker_that_ends_while_its_broker_is_away_leaves_the_fleet(
    desk: Desk, broker: Broker, fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    desk.actor.send_with_options(fleetgate="normal")
    message = desk.fetch()
    assert fleet.status()["busy"] == 1
    broker.stop()
    desk.worker.end()
    status = fleet.status()
    assert (status["live"], status["draining"], status["busy"]) == (0, 0, 0)
    assert f"{message} comes back after the broker's heartbeat_timeout" in caplog.text


def test_a_process_beside_the_worker_beats_until_it_is_stopped(broker: Broker) -> None:
    beaten = RedisBroker(url=broker.url, heartbeat_timeout=500)
    pulse = Pulse(beaten)
    pid = pulse.pid
    assert pid is not None

    def beat() -> float:
        return beaten.client.zscore("dramatiq:__heartbeats__", beaten.broker_id) or 0.0

    first = beat()
    assert first > 0  # before any fetch
    until(lambda: beat() > first, "another beat")
    pulse.stop()
    beaten.client.connection_pool.disconnect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_loss_of_that_process_is_told(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    pulse = Pulse(RedisBroker(url=broker.url))
    assert pulse.pid is not None
    with caplog.at_level(logging.WARNING, "fleetgate"):
        os.kill(pulse.pid, signal.SIGKILL)
        until(lambda: "no process beats at the broker beside this one" in caplog.text, "a warning")
    pulse.stop()
