"""Addresses of administrators' pages."""

from django.urls import path

from leaderboard.views import acts, administration

urlpatterns = [
    path("administration/", administration.overview, name="administration"),
    path("audit/", acts.acts_list, name="acts"),
    path("administration/limits/", administration.limits, name="limits"),
    path("administration/costs/", administration.costs_page, name="costs"),
    path("administration/classes/pause/", administration.class_pause, name="class-pause"),
    path("administration/classes/resume/", administration.class_resume, name="class-resume"),
]
