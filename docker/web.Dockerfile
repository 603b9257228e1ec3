# The site: Django behind gunicorn, without a model framework. Also runs migrations and other commands of manage.py.
#   docker build --file docker/web.Dockerfile --tag medboard-web .

FROM python:3.11.13-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY docker/requirements-web.txt .
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --requirement requirements-web.txt

FROM python:3.11.13-slim-bookworm AS site
# pg_dump and pg_restore, as new as the server of compose.yml, for `manage.py backup` and `restore`.
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install --yes --no-install-recommends postgresql-client-18 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin medboard
COPY --from=packages /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    BEHIND_TLS=true \
    LOG_FORMAT=json \
    MEDBOARD_DATA_DIR=/srv/data
WORKDIR /srv/medboard
COPY manage.py ./
COPY docker/health.py docker/
COPY evaluation evaluation
COPY leaderboard leaderboard
COPY workers workers
COPY templates templates
COPY static static
# Hashed and compressed files are part of the image; these addresses are only there to be read.
RUN SECRET_KEY=collecting-static-files-needs-no-secret-0123456789abcdef SITE_URL=https://localhost \
    DATABASE_URL=postgres://nobody@localhost/nothing REDIS_URL=redis://localhost \
    python manage.py collectstatic --no-input
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 CMD ["python", "docker/health.py", "8000", "/healthz"]
CMD ["gunicorn", "--config", "python:leaderboard.config.gunicorn", "--bind", "0.0.0.0:8000", "leaderboard.config.wsgi"]
