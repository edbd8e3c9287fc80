#!/bin/sh
# Runs once, when the primary's database is created.
set -eu
echo "host replication $POSTGRES_USER all scram-sha-256" >>"$PGDATA/pg_hba.conf"
