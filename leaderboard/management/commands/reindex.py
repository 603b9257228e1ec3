"""`python manage.py reindex`: build the database's indexes anew while the board goes on."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection


class Command(BaseCommand):
    """After an upgrade of the database's operating system, whose sorting may differ, or when indexes have grown."""

    help = "Rebuild every index of the board without locking its tables, and renew the planner's statistics."

    def handle(self, *args: Any, **options: Any) -> None:
        """One table after the other, each outside a transaction."""
        with connection.cursor() as cursor:
            tables = sorted(connection.introspection.table_names(cursor))
            for table in tables:
                cursor.execute(f"REINDEX TABLE CONCURRENTLY {connection.ops.quote_name(table)}")
                cursor.execute(f"ANALYZE {connection.ops.quote_name(table)}")
        self.stdout.write(f"The indexes of {len(tables)} tables are new.")
