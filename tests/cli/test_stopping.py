from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from heliograph.cli.stopping import Stop, stopping


def kill() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)


def test_the_time_is_an_end() -> None:
    assert Stop(0)
    assert not Stop(1_000)
    assert not Stop()


def test_waiting_ends_with_the_time() -> None:
    stop = Stop(0.01)
    stop.wait(1_000)
    assert stop


def test_the_first_signal_asks_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stopping() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        stop.wait(10)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            kill()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_read_that_goes_on_after_a_signal_is_left() -> None:
    def silent() -> object:
        kill()
        raise AssertionError

    with stopping() as stop:
        assert list(stop.reads(iter(silent, None))) == []
        assert stop.asked


def test_what_comes_is_yielded_until_the_input_ends() -> None:
    assert list(Stop().reads(iter([1, 2]))) == [1, 2]


def test_other_threads_get_no_signals() -> None:
    found = []

    def run() -> None:
        with stopping(0) as stop:
            found.append(bool(stop))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [True]


class Hurried(Stop):
    """A signal comes just before each read begins."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "blocked" and value:
            super().__setattr__("asked", True)
        super().__setattr__(name, value)


def test_who_was_asked_just_before_a_read_does_not_begin_it() -> None:
    assert list(Hurried().reads(iter(lambda: 1 // 0, None))) == []


@pytest.mark.parametrize("before", [True, False])
def test_a_signal_interrupts_what_does_not_look_for_one(before: bool) -> None:  # noqa: FBT001
    with stopping() as stop:
        stop.asked = before  # Then nothing is done at all.
        with pytest.raises(KeyboardInterrupt), stop.interrupted():
            kill()
        assert not stop.blocked
