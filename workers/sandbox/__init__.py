"""Sealing the evaluating child off: no network, no foreign files, no privileges, bounded memory, processes and disk."""
