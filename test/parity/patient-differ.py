"""The oracle's differ with more patience for the first byte of an answer to raw bytes.

    python patient-differ.py ORACLE-FOLDER ARGUMENTS-OF-DIFFER…

The oracle takes half a second of silence for "no answer comes". A machine that does other things as well
stands still that long now and then, and it was the real server whose answer was missed. What does answer is
not waited for any longer than before. Runs under the oracle's own Python (`install --python`).
"""

import runpy
import sys
import time

FIRST_BYTE_SECONDS = 3.0
NEXT_BYTES_SECONDS = 0.2


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


if __name__ == "__main__":
    oracle = sys.argv[1]
    sys.path.insert(0, oracle)
    from kit import client

    client.exchange = exchange
    sys.argv = [f"{oracle}/differ", *sys.argv[2:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
