"""A small server that speaks the part of the Hugging Face hub's HTTP protocol that a download needs.

It serves a folder of repositories, `ROOT/<owner>/<name>/...`, over loopback. `python -m workers.local_hub` starts it.
"""
