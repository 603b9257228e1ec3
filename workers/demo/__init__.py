"""The demo panel: visitors search galleries of medical evidence with the reference model.

Three processes share the work. The panel (`python -m workers.demo`) shows the page; it loads no model and reads the
galleries with a database role that can do nothing else. The interactive worker (`celery -A workers.demo.celery worker`)
keeps the model loaded, reads what visitors send, and knows no database. Between them stands a broker of their own, so
neither can reach the board's queue, and which keeps nothing on a disk.
"""
