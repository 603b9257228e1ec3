"""`python -m workers.demo`: the demo panel."""

import argparse

from workers.demo.configuration import ConfigurationMissing
from workers.demo.server import serve

DEFAULT_PORT = 8002


def main() -> None:
    """Serve the panel.

    Raises:
        SystemExit: a variable that it needs is not set.
    """
    parser = argparse.ArgumentParser(prog="python -m workers.demo", description="The demo panel.")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    arguments = parser.parse_args()
    try:
        serve(arguments.port)
    except ConfigurationMissing as error:
        raise SystemExit(f"The panel does not start: {error}") from error


if __name__ == "__main__":
    main()
