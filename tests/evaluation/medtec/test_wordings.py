"""Noun phrases and frames, by hand."""

import pytest

from evaluation.suites.medtec.wordings import Wording, fill, image_slots, normalised, slot_names


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("a lung nodule", "lung nodule"),
        ("an enlarged heart", "enlarged heart"),
        ("the knee", "the knee"),
        ("atelectasis", "atelectasis"),
        ("anasarca", "anasarca"),
        ("a chest that is a problem", "chest that is a problem"),
    ],
)
def test_bare_drops_only_a_leading_indefinite_article(text, bare):
    assert Wording(text).bare == bare


def test_verbs_agree_in_number():
    frame = "{bare} {is} seen and {has} been seen; {concept} {was} seen"
    assert fill(frame, Wording("a gallstone").slots()) == ("gallstone is seen and has been seen; a gallstone was seen")
    assert fill(frame, Wording("gallstones", is_plural=True).slots()) == (
        "gallstones are seen and have been seen; gallstones were seen"
    )


def test_slots_that_are_not_given_stay():
    frame = fill("{image} showing {concept} on {bare_image}", image_slots(Wording("an MRI")))
    assert frame == "an MRI showing {concept} on MRI"
    assert slot_names(frame) == {"concept"}


def test_a_filled_text_is_not_filled_again():
    assert fill("{bare}", {"bare": "{concept}", "concept": "no"}) == "{concept}"


@pytest.mark.parametrize("text", ["No  Pneumonia.", "no pneumonia", "NO-PNEUMONIA", " no_pneumonia! "])
def test_case_space_and_punctuation_make_no_other_text(text):
    assert normalised(text) == "no pneumonia"
