"""Addresses of the boards, models, tasks and methods."""

from django.urls import path
from django.views.decorators.http import require_safe

from leaderboard.views import (
    analyses,
    boards,
    catalogue,
    compare,
    embedding_models,
    methods,
    model_images,
    panel,
    probe_analyses,
    probe_boards,
    systems,
    task_examples,
)

urlpatterns = [
    path("", boards.overall, name="board-overall"),
    path("boards/family/<slug:family>/", boards.family, name="board-family"),
    path("boards/domain/<slug:domain>/", boards.domain, name="board-domain"),
    path("boards/medtec/", probe_boards.overview, name="probe-board"),
    path("boards/medtec/modality/<slug:key>/", probe_boards.modality, name="probe-modality"),
    path("boards/medtec/level/<slug:level>/", probe_boards.level, name="probe-level"),
    path("boards/medtec/analysis/<slug:name>/", probe_analyses.page, name="probe-analysis"),
    path("boards/<slug:axis>/<slug:key>/", boards.other_group, name="board-group"),
    path("models/<path:repo_id>/badge.svg", model_images.badge, name="model-badge"),
    path("models/<path:repo_id>/profile.svg", model_images.profile, name="model-profile"),
    path("models/<path:repo_id>/", embedding_models.detail, name="model-detail"),
    path("tasks/", catalogue.task_list, name="task-list"),
    path("tasks/pictures/<int:pk>.jpg", task_examples.picture, name="task-picture"),
    path("tasks/<slug:suite>/<path:name>/", catalogue.task_detail, name="task-detail"),
    path("analyses/", analyses.page, name="analyses"),
    path("compare/", compare.page, name="compare"),
    path("systems/", systems.page, name="systems"),
    path("methods/", methods.page, name="methods"),
    path("demo/", panel.page, name="demo"),
]

for pattern in urlpatterns:  # pages that only show: they take no form
    pattern.callback = require_safe(pattern.callback)
