"""`python -m workers.local_hub --root DIR --port N [--host ADDRESS]`."""

import argparse
import contextlib
import logging
import signal
from pathlib import Path

from workers.local_hub.server import LOOPBACK, LocalHub


def main() -> None:
    """Serve a folder of repositories until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m workers.local_hub", description=main.__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder with OWNER/NAME/ folders")
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on (default: loopback only)")
    arguments = parser.parse_args()
    if not arguments.root.is_dir():
        parser.error(f"--root {arguments.root} is not a folder")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s local hub: %(message)s")
    logging.getLogger("workers.local_hub.server").setLevel(logging.WARNING)  # a line a request is for tests
    # A process manager stops its children with SIGTERM; both signals end the server alike.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with LocalHub(arguments.root, host=arguments.host, port=arguments.port) as hub:
        logging.getLogger(__name__).info("serving %s on %s", arguments.root, hub.endpoint)
        with contextlib.suppress(KeyboardInterrupt):
            hub.serve_forever()


if __name__ == "__main__":
    main()
