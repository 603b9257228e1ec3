"""What a visitor may ask, and how long it may take."""

from evaluation.inputs import MAX_VOLUME_SLICES

MAX_FILES = MAX_VOLUME_SLICES
MAX_FILE_BYTES = 8 * 1024**2
MAX_TOTAL_BYTES = 40 * 1024**2
MAX_TEXT_CHARACTERS = 2000
MAX_INSTRUCTION_CHARACTERS = 500
MAX_PIXELS = 40_000_000
"""Of all files of a query together, before anything is decoded."""
MAX_REFUSAL_CHARACTERS = 300
"""Of what a decoder says of files that it cannot read; more of it is cut off."""

SHOWN_RESULTS = 10
ANSWER_SECONDS = 20
"""How long the panel waits for an answer; a query that is older is dropped by the worker unread."""
WORK_SECONDS = 15
"""How long the worker may take for one query before its process is killed."""
DECODING_SECONDS = 6
"""How long reading the files of one query may take."""
INDEXING_SECONDS = 300
"""The same for a batch of gallery items, which may be volumes."""
RESULT_SECONDS = 60
"""After which an answer that nobody fetched is gone."""

SEARCHES_A_MINUTE = 30
UPLOADS_A_MINUTE = 30
"""Of one address."""
