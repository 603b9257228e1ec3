"""The database role of the demo panel: it reads the galleries and nothing else."""

from dataclasses import dataclass

from django.db import connection, transaction
from psycopg import sql

from leaderboard.services.gallery import READ_TABLES


@dataclass(frozen=True, slots=True)
class PanelRole:
    """Name and password of the role, as they stand in PANEL_DATABASE_URL."""

    name: str
    password: str


def panel_role_create(*, role: PanelRole) -> None:
    """Create the role, or bring its password and rights up to date.

    Statements of the role end after ten seconds and can change nothing.

    Raises:
        ValueError: the role has no name or password, or is the one that the site itself uses.
    """
    if not role.name or not role.password or role.name == connection.settings_dict["USER"]:
        raise ValueError("PANEL_DATABASE_URL needs a user of its own, other than the site's, and a password.")
    name = sql.Identifier(role.name)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role.name])
        verb = sql.SQL("ALTER" if cursor.fetchone() else "CREATE")
        database = sql.Identifier(connection.settings_dict["NAME"])
        tables = sql.SQL(", ").join(map(sql.Identifier, READ_TABLES))
        for statement in (
            sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}").format(
                verb, name, sql.Literal(role.password)
            ),
            sql.SQL("ALTER ROLE {} SET default_transaction_read_only = on").format(name),
            sql.SQL("ALTER ROLE {} SET statement_timeout = '10s'").format(name),
            sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name),
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, name),
            sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name),
            sql.SQL("GRANT SELECT ON {} TO {}").format(tables, name),
        ):
            cursor.execute(statement)
