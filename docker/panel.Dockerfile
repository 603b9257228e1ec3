# The demo panel: Gradio, which asks the interactive worker through the broker. No model framework.
#   docker build --file docker/panel.Dockerfile --tag medboard-panel .

FROM python:3.11.13-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY docker/requirements-panel.txt .
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --requirement requirements-panel.txt

FROM python:3.11.13-slim-bookworm AS panel
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin medboard
COPY --from=packages /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    BEHIND_TLS=true \
    LOG_FORMAT=json \
    MEDBOARD_DATA_DIR=/tmp/data \
    GRADIO_ANALYTICS_ENABLED=False
WORKDIR /srv/medboard
COPY docker/health.py docker/
COPY evaluation evaluation
COPY leaderboard leaderboard
COPY workers workers
COPY templates templates
COPY static static
USER 10001
EXPOSE 7860
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 CMD ["python", "docker/health.py", "7860", "/panel/"]
CMD ["python", "-m", "workers.demo", "--port", "7860"]
