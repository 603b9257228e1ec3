"""A small server that speaks the part of the Hugging Face hub's HTTP protocol that a download needs.

It serves a folder of repositories over loopback: models in `ROOT/<owner>/<name>/...`, data sets in
`ROOT/datasets/<owner>/<name>/...`. `python -m workers.local_hub` starts it.
"""
