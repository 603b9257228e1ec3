"""Databases beside the one of the tests, on the same server."""

import contextlib
import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

_CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")


def address_of(name: str) -> str:
    """The address of a database of this name on the tests' server."""
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


@contextlib.contextmanager
def new_database(name: str) -> Iterator[str]:
    """The address of an empty database, which is dropped in the end."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield address_of(name)
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def all_rows(address: str) -> dict[str, list[str]]:
    """Every row of every table as text, and where every sequence stands."""
    found = {}
    with psycopg.connect(address) as database:
        for (table,) in database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall():
            query = sql.SQL("SELECT t::text FROM {} AS t ORDER BY 1").format(sql.Identifier(table))
            found[table] = [row for (row,) in database.execute(query).fetchall()]
        sequences = "SELECT sequencename || ' ' || coalesce(last_value, 0) FROM pg_sequences ORDER BY 1"
        found["sequences"] = [row for (row,) in database.execute(sequences).fetchall()]
    return found


def definitions(address: str) -> dict[str, list[str]]:
    """The constraints, indexes, triggers and columns of a database, as Postgres writes them.

    Casts between kinds of text and parentheses are left out: Postgres writes some differently once they were read back.
    """
    queries = {
        "constraints": "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)"
        " FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1",
        "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
        "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
        "columns": "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)"
        " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1",
    }
    with psycopg.connect(address) as database:
        return {
            name: [_CASTS.sub("", row) for (row,) in database.execute(query).fetchall()]
            for name, query in queries.items()
        }
