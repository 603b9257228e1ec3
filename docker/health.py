"""The health check of a container that serves pages: `python docker/health.py PORT PATH`.

Asks under the first of `ALLOWED_HOSTS`, since the site answers under no other name. A redirection counts as an answer.
"""

import http.client
import os
import sys

TIMEOUT_SECONDS = 4
FIRST_ERROR = 400


def main(port: int, path: str) -> int:
    """0 if the process on a port answers, else 1 with the reason on standard error."""
    host = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".") or "localhost"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host})
        status = connection.getresponse().status
    except OSError as error:
        sys.stderr.write(f"{path} on port {port} does not answer: {error}\n")
        return 1
    finally:
        connection.close()
    if status >= FIRST_ERROR:
        sys.stderr.write(f"{path} on port {port} answers with status {status}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
