#!/bin/sh
# Starts the standby. Without data, it copies the primary first.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host=primary --username="$POSTGRES_USER" --pgdata="$PGDATA" --write-recovery-conf --checkpoint=fast
  chmod 700 "$PGDATA"
fi
exec postgres
