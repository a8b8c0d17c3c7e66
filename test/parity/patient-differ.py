"""The oracle's differ with more patience, on a machine that does other things as well.

    python patient-differ.py ORACLE-FOLDER ARGUMENTS-OF-DIFFER…

What is other here, each time because it was not the candidate that varied:

The oracle takes half a second of silence for "no answer comes", and such a machine stands still that long
now and then; what does answer is not waited for any longer than before.

It reads a log as soon as the log has so many lines, of which its own probes wrote some: here a log is read once
nothing more comes to it.

And it takes what the real server said once for all that it says. Here the real server is asked again, alone,
before a difference is told: what it does in one of its plays the candidate may do as well. The candidate plays
once, so a difference of its own is never played away.

A case whose hosts are well and unwell by turns, as its checks are, is asked about just after they have become
well: it has half a second until they are not.

A port is given to one side of one case only. The oracle lets go of a port before its owner has it, and two
servers that take the same one by SO_REUSEPORT both answer on it.

Numbers of processes and ports are hidden wherever they are told, but not within dates and ids, which may have
the same digits; and a port is none of those that the next processes get, as its name would be theirs, nor a
number that a case speaks of.

Runs under the oracle's own Python (`install --python`).
"""

import pathlib
import re
import runpy
import sys
import threading
import time

FIRST_BYTE_SECONDS = 3.0
NEXT_BYTES_SECONDS = 0.2
LOG_AT_REST_SECONDS = 0.6
LOG_READINGS = 4
PROCESSES_OF_A_CASE = 8000  # far more than all cases at once start while one of them is played
MORE_PLAYS_OF_THE_REAL_SERVER = 3

# What the oracle writes for them.
WHOLES = ("<date>", "<time>", "<uuid>")

# Where every other check finds what is left of the one before, and fails.
BY_TURNS = {"upstream/health-tcp"}
A_TURN_SECONDS = 1


def exchange(port, pieces, tls=None, quiet=None, within=10, half_close=False):
    """As the oracle's own: all bytes that came, and whether the connection is then closed, reset or open."""
    received = b""
    stream = client.connect(port, within, tls)
    with stream:
        try:
            send(stream, pieces, half_close)
            end = time.monotonic() + within
            while time.monotonic() < end:
                stream.settimeout(quiet or (NEXT_BYTES_SECONDS if received else FIRST_BYTE_SECONDS))
                data = stream.recv(1 << 16)
                if not data:
                    return received, "closed"
                received += data
        except TimeoutError:
            pass
        # A socket that has been reset is "not connected" to whoever would half-close it.
        except OSError:
            return received, "reset"
        return received, "open"


def send(stream, pieces, half_close):
    for piece in pieces:
        if isinstance(piece, bytes):
            stream.sendall(piece)
        else:
            time.sleep(piece)
    if half_close:
        stream.shutdown(client.socket.SHUT_WR)


def at_rest(read_file):
    """The oracle's own step `file`, for a log only after what is on its way to the file has come."""

    def step_file(self, step, check):
        told = read_file(self, step, check)
        for _ in range(LOG_READINGS if "lines" in step else 0):
            time.sleep(LOG_AT_REST_SECONDS)
            before, told = told, read_file(self, step, check)
            if told == before:
                break
        return told

    return step_file


def just_reached(wait_until):
    """The oracle's own step `wait_until`, where what is waited for comes and goes: only at its beginning."""

    def step_wait_until(self, step, check):
        told = wait_until(self, step, check)
        if self.case.name in BY_TURNS and told == "reached":
            gone = {**step["wait_until"], "not": True, "within": A_TURN_SECONDS}
            wait_until(self, {**step, "wait_until": gone}, check)
            told = wait_until(self, step, check)
        return told

    return step_wait_until


def numbers_in(folders):
    """All numbers of five digits in the cases there."""
    texts = (path.read_text() for folder in folders for path in pathlib.Path(folder).rglob("*.yaml"))
    return {int(number) for text in texts for number in re.findall(r"(?<!\d)\d{5}(?!\d)", text)}


def ports_once(free_port, spoken_of):
    """The oracle's own `free_port`, but for ports that it gave before, those that are soon the number of a process
    and those `spoken_of`; called by several threads."""
    given, lock = set(), threading.Lock()
    processes = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())

    def soon_a_process(port):
        youngest = int(pathlib.Path("/proc/loadavg").read_text().split()[-1])
        return (port - youngest) % processes < PROCESSES_OF_A_CASE

    def fresh_port():
        while True:
            held = free_port()
            port = held.getsockname()[1]
            with lock:
                if port not in given and port not in spoken_of and not soon_a_process(port):
                    given.add(port)
                    return held
            held.close()

    return fresh_port


def wholes_first(scrub):
    """The oracle's own `scrub`, but that a port or a process may have a number that is a part of a date or an id."""
    wholes = [one for one in normalise.SCRUBS if one[1] in WHOLES]
    assert wholes, "the oracle hides no dates any more"

    def scrub_all(self, text):
        for pattern, replacement in wholes:
            text = re.sub(pattern, replacement, text)
        return scrub(self, text)

    return scrub_all


def candidates(told):
    """What the candidate said; where the real server did not start, the oracle puts a word on that in its place."""
    said = [theirs for _, _, theirs in told.pairs]
    return ["LIVE", *said[1:]] if said[0].startswith("(the oracle itself did not start") else said


def asked_again(run_case):
    """The oracle's own `run_case`, with more plays of the real server where the two differ."""

    def run(case, oracle, candidate, root, certs, allowances, patience):
        told = run_case(case, oracle, candidate, root, certs, allowances, patience)
        for play in range(2, 2 + MORE_PLAYS_OF_THE_REAL_SERVER):
            if told.same or case.error:
                break
            folder = root / case.name / f"oracle-{play}"
            folder.mkdir(parents=True)
            side = steps.Side(case, oracle, folder, certs, allowances, patience["oracle"], True)
            said = compare.run_side(side)
            if [text for _, text in said] == candidates(told):
                again = compare.Result(said, said, [])
                again.seconds = told.seconds
                return again
        return told

    return run


if __name__ == "__main__":
    oracle = sys.argv[1]
    sys.path.insert(0, oracle)
    from kit import client, compare, normalise, steps

    client.exchange = exchange
    steps.Side.step_file = at_rest(steps.Side.step_file)
    steps.Side.step_wait_until = just_reached(steps.Side.step_wait_until)
    normalise.Normaliser.scrub = wholes_first(normalise.Normaliser.scrub)
    cases = [f"{oracle}/cases", pathlib.Path(__file__).parent / "cases"]
    steps.free_port = ports_once(steps.free_port, numbers_in(cases))
    compare.run_case = asked_again(compare.run_case)
    sys.argv = [f"{oracle}/differ", *sys.argv[2:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
