"""What each family asks, in a sentence."""

from leaderboard.models.vocabulary import Family

FAMILY_QUESTIONS = {
    Family.IMAGE_TO_LABEL: "The query is an image or volume; the right label is searched among texts.",
    Family.IMAGE_TO_IMAGE: "The query is an image or volume; another one with the same finding is searched.",
    Family.TEXT_TO_IMAGE: "The query is a text; the image or volume that it describes is searched.",
    Family.QUESTION_ANSWERING: "The query is an image with a question; the right answer is searched among texts.",
    Family.IMAGE_TO_REPORT: "The query is an image or volume; the report that belongs to it is searched.",
    Family.TEXT_TO_TEXT: "The query is a clinical text; the text that answers or matches it is searched.",
    Family.REGION_GROUNDING: "The query names a finding or structure; the region of the image that shows it is searched.",
    Family.MODALITY_BRIDGING: "The query is an image of one modality; evidence of another from the same patient is searched.",
}
