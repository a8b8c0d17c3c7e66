"""The oracle's differ with more patience on a machine that does other things as well.

    python patient-differ.py ORACLE-FOLDER ARGUMENTS-OF-DIFFER…

The oracle takes half a second of silence for "no answer comes", and such a machine stands still that long
now and then; what does answer is not waited for any longer than before. And it reads a log as soon as the log
has so many lines, of which its own probes wrote some: here a log is read once nothing more comes to it. Both
times it was the real server's part that was missed. Runs under the oracle's own Python (`install --python`).
"""

import runpy
import sys
import time

FIRST_BYTE_SECONDS = 3.0
NEXT_BYTES_SECONDS = 0.2
LOG_AT_REST_SECONDS = 0.6
LOG_READINGS = 4


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


if __name__ == "__main__":
    oracle = sys.argv[1]
    sys.path.insert(0, oracle)
    from kit import client, steps

    client.exchange = exchange
    steps.Side.step_file = at_rest(steps.Side.step_file)
    sys.argv = [f"{oracle}/differ", *sys.argv[2:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
