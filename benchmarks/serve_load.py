"""The page under load: ordinary requests beside clients that never finish theirs.

python benchmarks/serve_load.py MODEL --requests 2000 --slow 100

Starts `serve MODEL` on a free port of 127.0.0.1, opens slow connections (silent ones, half a
header, half a form) again whenever they are closed, and sends the requests eight at a time. Prints
how they were answered, and the server's resident memory (Linux) after a tenth and at the end.
"""

import argparse
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

HALVES = (
    b"",
    b"GET / HTTP/1.1\r\nHost: 127",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntext=",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=100)
    args = parser.parse_args()
    port = free_port()
    command = [sys.executable, "-m", "spacy", "biaffine", "serve", args.model, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        ended = threading.Event()
        for number in range(args.slow):
            slow = threading.Thread(target=stay, args=(port, HALVES[number % 3], ended))
            slow.daemon = True
            slow.start()
        first = answers(port, args.requests // 10)
        before = memory(server.pid)
        found = first + answers(port, args.requests - args.requests // 10)
        ended.set()
        print(f"{args.requests} requests beside {args.slow} slow clients: {dict(found)}")
        print(f"memory {before} MiB after a tenth, {memory(server.pid)} MiB at the end")
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


def stay(port: int, sent: bytes, ended: threading.Event) -> None:
    """Hold a connection that says too little, and another one when it is closed."""
    while not ended.is_set():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                connection.sendall(sent)
                while connection.recv(4096):
                    pass
        except OSError:
            time.sleep(0.1)


def answers(port: int, number: int) -> Counter[int]:
    """How often each status came back."""
    with ThreadPoolExecutor(8) as pool:
        return Counter(
            pool.map(lambda each: ask(port, f"Rain fell for {each} days."), range(number))
        )


def ask(port: int, text: str) -> int:
    body = urlencode({"text": text}).encode()
    try:
        with urlopen(f"http://127.0.0.1:{port}/", body, timeout=60) as response:
            response.read()
            return int(response.status)
    except HTTPError as error:
        return int(error.code)


def memory(pid: int) -> int:
    """Resident MiB, 0 where /proc does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    (line,) = (
        line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    main()
