"""Addresses for submitting, following runs and the queue."""

from django.urls import path

from leaderboard.views import health, metrics, notifications, queue, reruns, runs, submissions, workers

urlpatterns = [
    path("submit/", submissions.submit, name="submit"),
    path("submissions/<uuid:submission_id>/", submissions.submission_page, name="submission-detail"),
    path("submissions/<uuid:submission_id>/cancel/", submissions.submission_cancel, name="submission-cancel"),
    path("submissions/<uuid:submission_id>/publish/", submissions.submission_release, name="submission-publish"),
    path("runs/<uuid:run_id>/", runs.run_page, name="run-detail"),
    path("runs/<uuid:run_id>/progress/", runs.run_progress, name="run-progress"),
    path("reruns/", reruns.reruns_page, name="reruns"),
    path("reruns/waiting/", reruns.waiting_page, name="reruns-waiting"),
    path("runs/<uuid:run_id>/publish/", runs.run_publish_result, name="run-publish"),
    path("runs/<uuid:run_id>/withdraw/", runs.run_withdraw_result, name="run-withdraw"),
    path("runs/<uuid:run_id>/cancel/", runs.run_cancel_active, name="run-cancel"),
    path("notifications/", notifications.notifications_page, name="notifications"),
    path("notifications/secret/", notifications.new_secret, name="notifications-secret"),
    path("workers/", workers.workers_page, name="workers"),
    path("healthz", health.live, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", metrics.metrics_page, name="metrics"),
    path("queue/", queue.queue_page, name="queue"),
    path("queue/pause/", queue.pause, name="pause"),
    path("queue/resume/", queue.resume, name="resume"),
]
