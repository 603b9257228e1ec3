"""Reading files into RGB images: the only place where an image file is opened.

Every fault of a file is an `InputUnreadable` that names it; nothing is ever replaced by a stand-in.
"""

from evaluation.decoding.inputs import DecodedInput, decode

__all__ = ["DecodedInput", "decode"]
