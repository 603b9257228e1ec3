"""Telling people that a run has ended: e-mails and webhooks, sent by workers from what services planned."""
