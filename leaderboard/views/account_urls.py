"""Addresses of a person's own account, of owners, and of what is known of training data."""

from django.urls import path

from leaderboard.views import accounts, ownership, training_data

urlpatterns = [
    path("account/", accounts.account_page, name="account"),
    path("account/export/", accounts.account_export, name="account-export"),
    path("account/delete/", accounts.account_deletion, name="account-deletion"),
    path("owners/", ownership.owners_page, name="owners"),
    path("owners/wish/", ownership.owner_wish, name="owner-wish"),
    path("owners/<int:claim_id>/", ownership.claim_page, name="owner-claim"),
    path("owners/<int:claim_id>/act/", ownership.claim_act, name="owner-claim-act"),
    path("training-data/", training_data.training_data_page, name="training-data"),
    path("training-data/<int:mark_id>/lift/", training_data.training_data_lift, name="training-data-lift"),
]
