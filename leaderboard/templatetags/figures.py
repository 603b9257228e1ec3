"""The figures of `leaderboard.views.figures` as template filters."""

from django import template

from leaderboard.views import figures

register = template.Library()
register.filter("percent", figures.percent)
register.filter("quantity", figures.quantity)
register.filter("kind_title", figures.kind_title)
register.filter("signed", figures.signed)
register.filter("main_figure", figures.main_figure)
register.filter("metric_title", figures.metric_title)
