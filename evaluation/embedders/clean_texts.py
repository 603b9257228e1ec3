"""What open_clip does to a text before its tokenizer."""

import html

from ftfy import fix_text


def clean_text(text: str) -> str:
    """Damaged letters mended, HTML's names of letters read (twice, as they are often written), one space between words.

    Source: https://github.com/mlfoundations/open_clip, `tokenizer.py`, the cleaning "whitespace".
    """
    return " ".join(html.unescape(html.unescape(fix_text(text))).split())
