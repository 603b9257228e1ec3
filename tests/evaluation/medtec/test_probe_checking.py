"""Every rule of probe sets, by a set that breaks it: the message names modality, level, concept, template and text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ModelInvalid, SuiteInvalid
from evaluation.suites.medtec import probe_lengths
from evaluation.suites.medtec.probe_building import build_probe_sets
from evaluation.suites.medtec.probe_checking import find_problems, require_sound
from evaluation.suites.medtec.probe_lengths import distinct_texts, length_difference, token_bound, word_count
from evaluation.suites.medtec.probe_reading import read_probe_sets
from evaluation.suites.medtec.probe_rules import sides_are_distinct
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.suites.medtec.wordings import Wording
from evaluation.vocabulary import Level, Modality, NegationSubtype, PhrasingStyle
from tests.evaluation.medtec.probe_changes import pick, probe_of, swapped, with_probe

BRAIN = read_vocabulary(Modality.BRAIN_MRI)
BRAIN_SETS = build_probe_sets(BRAIN)
GLIOMA = probe_of(pick(BRAIN_SETS, Level.L4), "glioma")


def only_problem(vocabulary, sets):
    (problem,) = find_problems(vocabulary, sets)
    with pytest.raises(SuiteInvalid):
        require_sound(vocabulary, sets)
    return problem


def problems_with_negative(modality, level, concept, text, **kind):
    """The problems once the last negative of a concept's first probe is another text."""
    vocabulary = read_vocabulary(modality)
    sets = build_probe_sets(vocabulary)
    probe_set = pick(sets, level, **kind)
    probe = probe_of(probe_set, concept)
    changed = with_probe(sets, probe_set, probe, lambda old: replace(old, negatives=(*old.negatives[:-1], text)))
    # A change of one text moves lengths too, which is another rule's matter.
    return probe, [problem for problem in find_problems(vocabulary, changed) if "differ by" not in problem]


def assert_names(problem, modality, level, probe, text):
    for part in (f"{modality} {level} ", f"concept {probe.concept!r}", f"template {probe.template!r}", repr(text)):
        assert part in problem


@pytest.mark.parametrize("modality", list(Modality))
def test_the_committed_probes_keep_every_rule(modality):
    assert find_problems(read_vocabulary(modality), read_probe_sets(modality)) == ()


@pytest.mark.parametrize("mangle", [str, str.upper, lambda text: f" {text}. ", lambda text: text.replace(" ", "-")])
def test_a_text_on_both_sides(mangle):
    text = mangle(GLIOMA.positives[1])
    probe, problems = problems_with_negative(Modality.BRAIN_MRI, Level.L4, "glioma", text)
    assert len(problems) == 2  # it is also a synonym
    assert_names(problems[0], "brain_mri", "L4", probe, text)
    assert "stands on both sides" in problems[0]


@pytest.mark.parametrize("side", ["positives", "negatives"])
def test_a_text_twice_on_one_side(side):
    texts = getattr(GLIOMA, side)
    twice = (*texts[:-1], texts[0].upper())
    sets = with_probe(BRAIN_SETS, pick(BRAIN_SETS, Level.L4), GLIOMA, lambda old: replace(old, **{side: twice}))
    problem = only_problem(BRAIN, sets)
    assert_names(problem, "brain_mri", "L4", GLIOMA, texts[0].upper())
    assert f"stands twice among the {side}" in problem


@pytest.mark.parametrize("count", [1, 3])
def test_too_few_positives(count):
    sets = with_probe(
        BRAIN_SETS, pick(BRAIN_SETS, Level.L4), GLIOMA, lambda old: replace(old, positives=old.positives[:count])
    )
    problems = [each for each in find_problems(BRAIN, sets) if "differ by" not in each]
    assert len(problems) == 1
    assert_names(problems[0], "brain_mri", "L4", GLIOMA, GLIOMA.template)
    assert f"has {count} positives, not 4" in problems[0]


def test_too_few_negatives_where_there_are_enough_alternatives():
    sets = with_probe(
        BRAIN_SETS, pick(BRAIN_SETS, Level.L4), GLIOMA, lambda old: replace(old, negatives=old.negatives[:7])
    )
    problem = only_problem(BRAIN, sets)
    assert_names(problem, "brain_mri", "L4", GLIOMA, GLIOMA.template)
    assert "has 7 negatives, not 8 to 9" in problem


def test_where_alternatives_are_fewer_than_eight_all_are_needed():
    vocabulary = read_vocabulary(Modality.DERMOSCOPY)
    sets = build_probe_sets(vocabulary)
    probe_set = pick(sets, Level.L4)
    probe = probe_of(probe_set, "actinic_keratosis")
    assert len(probe.negatives) == 7
    fewer = with_probe(sets, probe_set, probe, lambda old: replace(old, negatives=old.negatives[:6]))
    assert "has 6 negatives, not 7" in only_problem(vocabulary, fewer)


def test_more_than_ten_negatives():
    vocabulary = read_vocabulary(Modality.CHEST_RADIOGRAPH)
    sets = build_probe_sets(vocabulary)
    probe_set = pick(sets, Level.L4)
    probe = probe_of(probe_set, "fracture")
    more = (*probe.negatives, "a chest x-ray showing pleural scarring")
    changed = with_probe(sets, probe_set, probe, lambda old: replace(old, negatives=more))
    assert "has 11 negatives, not 8 to 10" in only_problem(vocabulary, changed)


@pytest.mark.parametrize(
    ("concept", "text", "said"),
    [
        ("pneumonia", "a chest x-ray showing consolidation", "names 'consolidation'"),
        ("pneumonia", "a chest x-ray showing a pulmonary opacity", "names 'lung_opacity'"),
        ("pneumonia", "a chest x-ray showing a lung infiltrate", "names 'infiltration'"),
        ("lung_opacity", "a chest x-ray showing lung infection", "names 'pneumonia'"),
        ("no_finding", "a chest x-ray showing lines and tubes", "names 'support_devices'"),
        ("hernia", "a chest x-ray showing a broken rib", "the vocabulary does not know"),
        ("hernia", "a chest x-ray with emphysema", "the vocabulary does not know"),
        ("hernia", "a chest x-ray showing a fracture", "names 'fracture'"),
    ],
)
def test_a_negative_that_may_be_true(concept, text, said):
    """An ancestor, its ancestor, a co-label, a descendant, what no list judges, and texts of no known meaning."""
    probe, problems = problems_with_negative(Modality.CHEST_RADIOGRAPH, Level.L4, concept, text)
    assert len(problems) == 1
    assert_names(problems[0], "chest_radiograph", "L4", probe, text)
    assert said in problems[0]


def test_a_negative_that_is_a_synonym():
    """A fifth wording of the concept would be no positive, and would still be true."""
    glioma = next(term for term in BRAIN.findings if term.key == "glioma")
    wider = replace(glioma, wordings={**glioma.wordings, PhrasingStyle.TEMPLATE: (
        *glioma.wordings[PhrasingStyle.TEMPLATE], Wording("a gliomatous tumor"))})  # fmt: skip
    vocabulary = replace(BRAIN, findings=tuple(wider if term is glioma else term for term in BRAIN.findings))
    text = "a brain MRI scan showing a gliomatous tumor"
    sets = with_probe(
        BRAIN_SETS,
        pick(BRAIN_SETS, Level.L4),
        GLIOMA,
        lambda old: replace(old, negatives=(*old.negatives[:-1], text)),
    )
    problem = only_problem(vocabulary, sets)
    assert_names(problem, "brain_mri", "L4", GLIOMA, text)
    assert "is a synonym of 'glioma'" in problem


def test_a_negative_site_that_overlaps_the_own():
    text = "a dermoscopic image of the upper limb"
    probe, problems = problems_with_negative(Modality.DERMOSCOPY, Level.L3, "hand", text)
    assert_names(problems[0], "dermoscopy", "L3", probe, text)
    assert "names 'upper_extremity'" in problems[0]


@pytest.mark.parametrize(
    ("level", "text"), [(Level.L1, "an image of a hamster"), (Level.L2, "this is a brain CT perfusion map")]
)
def test_a_negative_of_no_known_meaning_at_the_coarse_levels(level, text):
    probe, problems = problems_with_negative(Modality.BRAIN_MRI, level, "brain_mri", text)
    assert_names(problems[0], "brain_mri", level, probe, text)


def test_a_positive_that_is_not_the_concept():
    text = "a brain MRI scan showing meningioma"
    positives = (*GLIOMA.positives[:3], text)
    sets = with_probe(BRAIN_SETS, pick(BRAIN_SETS, Level.L4), GLIOMA, lambda old: replace(old, positives=positives))
    problems = find_problems(BRAIN, sets)
    assert [each for each in problems if "is no wording of 'glioma'" in each]
    assert_names(problems[-1], "brain_mri", "L4", GLIOMA, text)


@pytest.mark.parametrize(
    ("subtype", "text"),
    [
        (None, "a brain MRI scan: there is a glial tumor"),
        (None, "a brain MRI scan: no meningioma"),
        (None, "a brain MRI scan: possible glioma"),
        (NegationSubtype.HEDGED, "a brain MRI scan: no glioma"),
        (NegationSubtype.HISTORICAL, "a brain MRI scan: glioma excluded"),
    ],
)
def test_a_negative_that_is_no_negation_of_the_subtype(subtype, text):
    probe, problems = problems_with_negative(Modality.BRAIN_MRI, Level.L5, "glioma", text, subtype=subtype)
    assert len(problems) == 1
    assert_names(problems[0], "brain_mri", "L5", probe, text)
    assert f"does not negate 'glioma' by a {subtype or 'mixed'} construction" in problems[0]


def test_a_positive_that_negates():
    probe_set = pick(BRAIN_SETS, Level.L5)
    probe = probe_of(probe_set, "glioma")
    text = "a brain MRI scan: there is no glioma"
    sets = with_probe(BRAIN_SETS, probe_set, probe, lambda old: replace(old, positives=(*old.positives[:3], text)))
    problem = only_problem(BRAIN, sets)
    assert_names(problem, "brain_mri", "L5", probe, text)
    assert "does not assert 'glioma'" in problem


def test_the_reversed_set_has_its_own_rules():
    probe_set = pick(BRAIN_SETS, Level.L5, reversed_set=True)
    probe = probe_set.probes[0]
    text = "a brain MRI scan: normal appearance is seen"
    true = with_probe(BRAIN_SETS, probe_set, probe, lambda old: replace(old, positives=(*old.positives[:3], text)))
    assert "does not state that nothing is abnormal" in only_problem(BRAIN, true)
    false = with_probe(BRAIN_SETS, probe_set, probe, lambda old: replace(old, negatives=(*old.negatives[:8], text)))
    problem = only_problem(BRAIN, false)
    assert_names(problem, "brain_mri", "L5", probe, text)
    assert "is a synonym of 'no_finding'" in problem


def test_a_template_variant_less():
    probe_set = pick(BRAIN_SETS, Level.L4)
    without = replace(probe_set, probes=tuple(probe for probe in probe_set.probes if probe is not GLIOMA))
    problem = only_problem(BRAIN, swapped(BRAIN_SETS, probe_set, without))
    assert "brain_mri L4 template, concept 'glioma', template '2 templates'" in problem


def test_a_concept_without_a_probe():
    probe_set = pick(BRAIN_SETS, Level.L4)
    without = replace(probe_set, probes=tuple(probe for probe in probe_set.probes if probe.concept != "glioma"))
    assert "brain_mri L4 template, concept 'glioma': there is no probe" in only_problem(
        BRAIN, swapped(BRAIN_SETS, probe_set, without)
    )


def test_a_concept_that_is_unknown():
    probe_set = pick(BRAIN_SETS, Level.L4)
    sets = with_probe(BRAIN_SETS, probe_set, GLIOMA, lambda old: replace(old, concept="gliosis"))
    assert any("'gliosis', which is no concept of this level" in problem for problem in find_problems(BRAIN, sets))


@pytest.mark.parametrize("number", range(len(BRAIN_SETS)))
def test_a_set_that_is_not_there(number):
    problem = only_problem(BRAIN, BRAIN_SETS[:number] + BRAIN_SETS[number + 1 :])
    assert f"there is no set {BRAIN_SETS[number].level}" in problem


def test_two_variants_are_too_few():
    vocabulary = replace(
        BRAIN,
        frames=tuple(
            replace(frames, frames=frames.frames[:2]) if frames.level is Level.L1 else frames for frames in BRAIN.frames
        ),
    )
    assert "there are 2 template variants; 3 are needed" in only_problem(vocabulary, build_probe_sets(vocabulary))


def test_sides_of_unlike_length():
    glioma = next(term for term in BRAIN.findings if term.key == "glioma")
    long = tuple(Wording(f"a glial tumor that grows within tissue of the brain, kind {letter}") for letter in "ABCD")
    wordings = {**glioma.wordings, PhrasingStyle.TEMPLATE: long}
    longer = replace(glioma, wordings=wordings)
    vocabulary = replace(BRAIN, findings=tuple(longer if term is glioma else term for term in BRAIN.findings))
    problems = find_problems(vocabulary, build_probe_sets(vocabulary))
    assert any("brain_mri L4 template: positives and negatives differ by" in problem for problem in problems)
    assert any(
        "concept 'glioma', template 'a brain MRI scan showing {concept}'" in problem
        and "has positives and negatives that differ by" in problem
        for problem in problems
    )


def test_a_text_that_a_model_would_cut_off():
    long = "Findings: no glioma. Impression: no glioma."
    probe = probe_of(pick(BRAIN_SETS, Level.L5, PhrasingStyle.REPORT), "glioma")

    def counter(tokens):
        return lambda texts: [tokens if text == long else 10 for text in texts]

    assert find_problems(BRAIN, BRAIN_SETS, counter(64)) == ()
    (problem,) = find_problems(BRAIN, BRAIN_SETS, counter(65))
    assert_names(problem, "brain_mri", "L5", probe, long)
    assert "has up to 65 tokens, too many for SigLIP (64)." in problem
    (problem,) = find_problems(BRAIN, BRAIN_SETS, counter(300))
    assert "SigLIP (64), CLIP (77), BERT with 256 tokens (256)." in problem


def test_a_wording_that_names_two_concepts():
    glioma = next(term for term in BRAIN.findings if term.key == "glioma")
    names = (*glioma.wordings[PhrasingStyle.TEMPLATE], Wording("Meningioma"))
    wider = replace(glioma, wordings={**glioma.wordings, PhrasingStyle.TEMPLATE: names})
    vocabulary = replace(BRAIN, findings=tuple(wider if term is glioma else term for term in BRAIN.findings))
    assert "names both 'glioma' and 'meningioma'" in find_problems(vocabulary, BRAIN_SETS)[0]


def test_many_breaches_are_counted_and_ten_are_shown():
    with pytest.raises(SuiteInvalid) as caught:
        require_sound(BRAIN, BRAIN_SETS, lambda texts: [65] * len(texts))
    assert "and " in caught.value.message.splitlines()[-1]
    assert len(caught.value.message.splitlines()) == 12


@given(st.data())
def test_any_positive_among_the_negatives_is_found(data):
    probe_set = data.draw(st.sampled_from(BRAIN_SETS))
    probe = data.draw(st.sampled_from(probe_set.probes))
    text = data.draw(st.sampled_from(probe.positives))
    mangled = "".join(data.draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in text)
    place = data.draw(st.integers(0, len(probe.negatives) - 1))
    negatives = (*probe.negatives[:place], mangled, *probe.negatives[place + 1 :])
    complaints = sides_are_distinct(BRAIN, probe_set, replace(probe, negatives=negatives))
    assert (mangled, "stands on both sides") in list(complaints)


def test_length_difference_by_hand():
    first = replace(GLIOMA, positives=("a b", "a b c d"), negatives=("a", "a b c"))
    second = replace(GLIOMA, positives=("a",), negatives=("a b c d e",))
    difference = length_difference([first, second], word_count)
    assert difference.mean == pytest.approx((1 - 4) / 2)
    assert difference.largest == 4


def test_the_bound_by_hand():
    # start, end; "no" 1; "edema" 3; "," 1; "now" 2
    assert token_bound(["no edema, now"]) == [9]


def test_real_word_pieces_never_exceed_the_bound_and_no_text_is_cut_off():
    from evaluation.embedders.packaged import minilm_folder

    count = probe_lengths.tokenizer_of(minilm_folder())
    texts = distinct_texts([each for modality in Modality for each in read_probe_sets(modality)])
    real, bound = count(texts), token_bound(texts)
    assert all(there <= most for there, most in zip(real, bound, strict=True))
    assert max(real) <= 40
    assert max(bound) <= min(probe_lengths.TEXT_LIMITS.values())


def test_a_folder_without_a_tokenizer_and_a_broken_one(tmp_path):
    with pytest.raises(ModelInvalid, match="does not exist"):
        probe_lengths.tokenizer_of(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelInvalid, match="is no tokenizer"):
        probe_lengths.tokenizer_of(tmp_path)
