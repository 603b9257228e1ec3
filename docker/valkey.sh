#!/bin/sh
# Valkey with the password of a secret, read from standard input so that it stands in no list of processes.
# Bells are few and small: everything is kept on disk, and nothing is ever thrown away for want of memory.
set -eu
password="$(cat "${PASSWORD_FILE:?names the file with the password}")"
# The shell becomes the server, so that the engine's signal to stop reaches it.
exec "${VALKEY_SERVER:-valkey-server}" - <<SETTINGS
requirepass ${password}
dir ${DATA_FOLDER:-/data}
port ${PORT:-6379}
bind ${BIND:-* -::*}
appendonly ${APPEND_ONLY:-yes}
save ${SAVE:-3600 1 300 100 60 10000}
maxmemory-policy noeviction
SETTINGS
