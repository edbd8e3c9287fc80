#!/bin/sh
# Starts PostgreSQL. With COPY_FROM, an empty volume first becomes a copy of that server, which then runs as its standby.
set -eu
if [ -n "${COPY_FROM:-}" ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Start an interrupted copy again from the beginning.
  rm -rf "$PGDATA" "$PGDATA.copy"
  PGPASSWORD="$POSTGRES_PASSWORD" pg_basebackup --host="$COPY_FROM" --username="$POSTGRES_USER" --pgdata="$PGDATA.copy" \
    --checkpoint=fast --write-recovery-conf --progress
  mv "$PGDATA.copy" "$PGDATA"
fi
exec docker-entrypoint.sh "$@"
