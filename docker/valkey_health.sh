#!/bin/sh
# The health check of Valkey's container.
set -eu
REDISCLI_AUTH="$(cat "${PASSWORD_FILE:?names the file with the password}")"
export REDISCLI_AUTH
[ "$("${VALKEY_CLI:-valkey-cli}" -p "${PORT:-6379}" ping)" = PONG ]
