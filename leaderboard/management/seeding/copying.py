"""Many rows at once, by the database's COPY: about ten times as fast as INSERT."""

from collections.abc import Sequence

from django.db import connection, models


def copy_in(rows: Sequence[models.Model]) -> None:
    """Store new rows of one model, whose key is a number, and give them their keys. Signals are not sent."""
    options = type(rows[0])._meta  # noqa: SLF001 - Django's documented way to a model's fields
    fields = options.concrete_fields
    quoted = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    table = connection.ops.quote_name(options.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [options.db_table, options.pk.column, len(rows)],
        )
        for row, (key,) in zip(rows, cursor.fetchall(), strict=True):
            row.pk = key
        with cursor.copy(f"COPY {table} ({quoted}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(
                    [field.get_db_prep_save(getattr(row, field.attname), connection=connection) for field in fields]
                )
