# A worker: Celery, the model frameworks and bubblewrap, without a web server. Also runs beat.
# CUDA's libraries come with torch's wheel; the driver comes from the host by NVIDIA's container toolkit.
#   docker build --file docker/worker.Dockerfile --tag medboard-worker .

FROM python:3.11.13-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY docker/requirements-worker.txt .
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --requirement requirements-worker.txt

FROM python:3.11.13-slim-bookworm AS worker
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libgomp1 util-linux \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin medboard \
    && install --directory --owner=medboard --group=medboard /srv/data /srv/suites
COPY --from=packages /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    BEHIND_TLS=true \
    LOG_FORMAT=json \
    MEDBOARD_DATA_DIR=/srv/data \
    SUITES_DIR=/srv/suites \
    OMP_WAIT_POLICY=PASSIVE \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /srv/medboard
COPY manage.py ./
COPY evaluation evaluation
COPY leaderboard leaderboard
COPY workers workers
COPY templates templates
COPY static static
USER 10001
VOLUME ["/srv/data", "/srv/suites"]
HEALTHCHECK --interval=60s --timeout=20s --start-period=120s --retries=3 CMD ["python", "manage.py", "worker_health"]
CMD ["celery", "-A", "workers.celery", "worker", "--pool", "threads", "--concurrency", "1", "--loglevel", "info"]
