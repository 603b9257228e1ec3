"""Reading task files: every parser, the rules for pools and copies, and every broken field by record number."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import DataMissing, EvaluationError, RecordInvalid, SuiteInvalid, TaskUnknown
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.manifest import write_manifest
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.reader import load_task, read_suite, select_tasks, task_is_installed
from evaluation.vocabulary import InputKind, Parser, PoolScope
from tests.evaluation.suite_folders import suite_of, task_spec, text_record, write_image, write_records

IMAGES = ["a.png", "b.png", "c.png", "d.png"]


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(IMAGES):
        write_image(tmp_path / "images" / name, seed)
    return tmp_path


def load(folder, parser, records, pool=PoolScope.LOCAL):
    spec = task_spec(parser=parser, pool=pool)
    write_records(folder, spec, records)
    return load_task(folder, spec)


def query_of(task, number=0):
    return task.inputs[task.queries[number].query]


def pool_of(task, number=0):
    return [task.inputs[position] for position in task.queries[number].pool]


def names(source):
    return [path.name for path in source.images]


@pytest.mark.parametrize("parser", [Parser.IMAGE_CLS, Parser.IMAGE_QA])
def test_image_to_text(folder, parser):
    record = {"qry_inst": "Do.", "qry_text": "What?", "qry_img_path": "a.png", "tgt_text": ["right", "wrong"]}
    task = load(folder, parser, [record])
    assert query_of(task).instruction == "Do."
    assert query_of(task).text == "What?"
    assert names(query_of(task)) == ["a.png"]
    assert [candidate.text for candidate in pool_of(task)] == ["right", "wrong"]
    assert {candidate.instruction for candidate in pool_of(task)} == {""}
    assert task.queries[0].relevant == {task.queries[0].pool[0]}


def test_several_query_images(folder):
    record = {"qry_inst": "", "qry_text": "", "qry_img_path": ["a.png", "b.png"], "tgt_text": ["right", "wrong"]}
    assert query_of(load(folder, Parser.IMAGE_QA, [record])).kinds == {InputKind.IMAGES}


@pytest.mark.parametrize("parser", [Parser.IMAGE_I2I, Parser.IMAGE_I2I_VG])
def test_image_to_image_with_a_caption_each(folder, parser):
    record = {
        "qry_inst": "",
        "qry_text": "same",
        "qry_img_path": "a.png",
        "tgt_text": ["", "seen"],
        "tgt_img_path": ["b.png", "c.png"],
    }
    pool = pool_of(load(folder, parser, [record]))
    assert [(names(candidate), candidate.text) for candidate in pool] == [(["b.png"], ""), (["c.png"], "seen")]


@pytest.mark.parametrize("captions", [[], ["both"]])
def test_images_without_a_caption_each_are_one_candidate(folder, captions):
    first = {
        "qry_inst": "",
        "qry_text": "region",
        "qry_img_path": "a.png",
        "tgt_text": captions,
        "tgt_img_path": ["b.png", "c.png"],
    }
    second = first | {"tgt_text": [""], "tgt_img_path": ["d.png"]}
    pool = pool_of(load(folder, Parser.IMAGE_I2I, [first, second], PoolScope.GLOBAL))
    assert [names(candidate) for candidate in pool] == [["b.png", "c.png"], ["d.png"]]
    assert pool[0].text == "".join(captions)


def test_text_to_image(folder):
    record = {"qry_inst": "", "qry_text": "find", "tgt_img_path": ["a.png", "b.png"], "tgt_text": ["", ""]}
    task = load(folder, Parser.IMAGE_T2I, [record])
    assert [names(candidate) for candidate in pool_of(task)] == [["a.png"], ["b.png"]]


def test_text_to_text(folder):
    task = load(folder, Parser.TEXT_QA, [text_record("why", ["because", "no"])])
    assert [candidate.text for candidate in pool_of(task)] == ["because", "no"]


def test_volume_to_text(folder):
    record = {"qry_inst": "", "qry_text": "", "qry_img_path": ["a.png", "b.png"], "qry_modality": "video"}
    query = query_of(load(folder, Parser.VOLUME_I2T, [record | {"tgt_text": ["right", "wrong"]}]))
    assert query.kinds == {InputKind.VOLUME}
    assert names(query) == ["a.png", "b.png"]


def test_text_to_volume(folder):
    record = {"qry_inst": "", "qry_text": "find", "tgt_img_path": [["a.png", "b.png"], ["c.png"]]}
    pool = pool_of(load(folder, Parser.VOLUME_T2I, [record | {"tgt_modality": "video"}]))
    assert [(names(candidate), candidate.is_volume) for candidate in pool] == [
        (["a.png", "b.png"], True),
        (["c.png"], True),
    ]


def test_volume_to_volume_without_modality(folder):
    record = {"qry_inst": "", "qry_text": "", "qry_img_path": ["a.png"], "tgt_img_path": [["b.png"], ["c.png"]]}
    task = load(folder, Parser.VOLUME_I2I, [record])
    assert query_of(task).is_volume
    assert all(candidate.is_volume for candidate in pool_of(task))


def test_image_to_volume_across_modalities(folder):
    record = {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": ["a.png"],
        "tgt_img_path": [["b.png"], ["c.png", "d.png"]],
    }
    task = load(folder, Parser.VOLUME_I2I, [record | {"qry_modality": "image", "tgt_modality": "video"}])
    assert query_of(task).kinds == {InputKind.IMAGE}
    assert {candidate.is_volume for candidate in pool_of(task)} == {True}


def test_a_global_pool_is_the_union_without_duplicates(folder):
    task = load(folder, Parser.TEXT_QA, [text_record("p", ["x", "y"]), text_record("q", ["z", "x"])], PoolScope.GLOBAL)
    assert [candidate.text for candidate in pool_of(task)] == ["x", "y", "z"]
    assert task.queries[0].pool is task.queries[1].pool
    assert [task.inputs[min(query.relevant)].text for query in task.queries] == ["x", "z"]


def test_candidates_equal_in_content_are_one(folder):
    (folder / "images" / "copy_of_a.png").write_bytes((folder / "images" / "a.png").read_bytes())
    record = {"qry_inst": "", "qry_text": "find", "tgt_img_path": ["a.png", "b.png", "copy_of_a.png"]}
    task = load(folder, Parser.IMAGE_T2I, [record])
    assert len(task.queries[0].pool) == 2
    assert task.queries[0].relevant == {task.queries[0].pool[0]}


@pytest.mark.parametrize("pool", PoolScope)
def test_duplicated_candidates_change_nothing(folder, pool):
    records = [text_record("p", ["x", "y", "z"]), text_record("q", ["z", "x"])]
    repeated = [text_record("p", ["x", "y", "x", "z", "y"]), text_record("q", ["z", "x", "z", "z"])]
    expected = load(folder, Parser.TEXT_QA, records, pool)
    assert load(folder, Parser.TEXT_QA, repeated, pool) == expected


def test_a_query_and_a_candidate_share_an_input_only_if_all_is_equal(folder):
    task = load(folder, Parser.TEXT_QA, [text_record("x", ["y", "z"], ""), text_record("y", ["x", "z"], "Do.")])
    assert [(source.text, source.instruction) for source in task.inputs] == [
        ("x", ""),
        ("y", ""),
        ("z", ""),
        ("y", "Do."),
    ]
    assert len(set(task.keys)) == len(task.inputs)


def test_a_querys_own_copy_is_excluded_whatever_its_instruction_and_name(folder):
    (folder / "images" / "renamed.png").write_bytes((folder / "images" / "a.png").read_bytes())
    record = {
        "qry_inst": "Find one like it.",
        "qry_text": "",
        "qry_img_path": "a.png",
        "tgt_text": ["", "", ""],
        "tgt_img_path": ["b.png", "renamed.png", "c.png"],
    }
    task = load(folder, Parser.IMAGE_I2I_VG, [record, record | {"qry_text": "with words"}])
    for query in task.queries:
        assert query.excluded == query.pool[1]


def test_a_query_that_is_relevant_by_design_stays(folder):
    record = {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": "a.png",
        "tgt_text": ["", ""],
        "tgt_img_path": ["a.png", "b.png"],
    }
    (query,) = load(folder, Parser.IMAGE_I2I_VG, [record]).queries
    assert query.excluded is None


def test_the_data_hash_follows_content_not_names(folder):
    record = {"qry_inst": "", "qry_text": "find", "tgt_img_path": ["a.png", "b.png"]}
    (folder / "images" / "other.png").write_bytes((folder / "images" / "b.png").read_bytes())
    same = load(folder, Parser.IMAGE_T2I, [record]).data_sha256
    assert load(folder, Parser.IMAGE_T2I, [record | {"tgt_img_path": ["a.png", "other.png"]}]).data_sha256 == same
    assert load(folder, Parser.IMAGE_T2I, [record | {"tgt_img_path": ["b.png", "a.png"]}]).data_sha256 != same


GOOD = {
    Parser.IMAGE_QA: {"qry_inst": "", "qry_text": "t", "qry_img_path": "a.png", "tgt_text": ["x", "y"]},
    Parser.IMAGE_I2I: {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": "a.png",
        "tgt_text": ["", ""],
        "tgt_img_path": ["b.png", "c.png"],
    },
    Parser.IMAGE_T2I: {"qry_inst": "", "qry_text": "t", "tgt_img_path": ["a.png", "b.png"]},
    Parser.TEXT_QA: {"qry_inst": "", "qry_text": "t", "tgt_text": ["x", "y"]},
    Parser.VOLUME_I2I: {
        "qry_inst": "",
        "qry_text": "",
        "qry_img_path": ["a.png"],
        "tgt_img_path": [["b.png"], ["c.png"]],
    },
}


@pytest.mark.parametrize(
    ("parser", "change", "said"),
    [
        (Parser.TEXT_QA, {"qry_text": 5}, "qry_text is int"),
        (Parser.TEXT_QA, {"qry_text": " "}, "qry_text is empty"),
        (Parser.TEXT_QA, {"qry_text": "\ud800"}, "lone surrogate"),
        (Parser.TEXT_QA, {"qry_inst": None}, "qry_inst is NoneType"),
        (Parser.TEXT_QA, {"qry_img_path": "a.png"}, "qry_img_path has images"),
        (Parser.TEXT_QA, {"tgt_img_path": ["a.png"]}, "tgt_img_path has images"),
        (Parser.TEXT_QA, {"tgt_text": "x"}, "tgt_text is str"),
        (Parser.TEXT_QA, {"tgt_text": []}, "tgt_text has no candidates"),
        (Parser.TEXT_QA, {"tgt_text": ["x", ""]}, r"tgt_text\[1\] is empty"),
        (Parser.TEXT_QA, {"tgt_text": ["x", ["y"]]}, r"tgt_text\[1\] is list"),
        (Parser.TEXT_QA, {"tgt_text": ["x", "x"]}, "nothing to rank"),
        (Parser.TEXT_QA, {"tgt_text": ["x", "t"]}, "nothing to rank"),
        (Parser.IMAGE_QA, {"qry_img_path": ""}, "qry_img_path has ''"),
        (Parser.IMAGE_QA, {"qry_img_path": []}, "qry_img_path is an empty list"),
        (Parser.IMAGE_QA, {"qry_img_path": {"a": 1}}, "qry_img_path is dict"),
        (Parser.IMAGE_QA, {"qry_img_path": ["a.png", 3]}, "qry_img_path has 3"),
        (Parser.IMAGE_QA, {"qry_img_path": "/etc/hostname"}, "inside the image root"),
        (Parser.IMAGE_QA, {"qry_img_path": "../images/a.png"}, "inside the image root"),
        (Parser.IMAGE_QA, {"qry_img_path": "a\0.png"}, "inside the image root"),
        (Parser.IMAGE_QA, {"qry_img_path": "out.png"}, "through a link"),
        (Parser.IMAGE_QA, {"qry_modality": "video"}, "qry_modality is 'video'"),
        (Parser.IMAGE_QA, {"qry_modality": "sound"}, "qry_modality is 'sound'"),
        (Parser.IMAGE_I2I, {"tgt_img_path": []}, "tgt_img_path has no candidates"),
        (Parser.IMAGE_I2I, {"tgt_img_path": "b.png"}, "tgt_img_path is str"),
        (Parser.IMAGE_I2I, {"tgt_text": ["", "", ""]}, "3 captions for 2 images"),
        (Parser.IMAGE_I2I, {"tgt_text": []}, "nothing to rank"),
        (Parser.IMAGE_T2I, {"tgt_text": ["one"]}, "1 captions for 2 candidates"),
        (Parser.VOLUME_I2I, {"tgt_img_path": ["b.png", "c.png"]}, "is one picture"),
        (Parser.VOLUME_I2I, {"tgt_img_path": [[], ["c.png"]]}, r"tgt_img_path\[0\] is an empty list"),
        (Parser.VOLUME_I2I, {"tgt_modality": "film"}, "tgt_modality is 'film'"),
    ],
)
def test_a_broken_field_is_refused_with_its_record_number(folder, parser, change, said):
    (folder / "outside.png").write_bytes((folder / "images" / "a.png").read_bytes())
    (folder / "images" / "out.png").symlink_to(folder / "outside.png")
    with pytest.raises(RecordInvalid, match=said) as caught:
        load(folder, parser, [GOOD[parser], GOOD[parser] | change])
    assert "Example.json: record 1" in str(caught.value)


@pytest.mark.parametrize(
    ("parser", "field"),
    [
        (Parser.TEXT_QA, "qry_inst"),
        (Parser.TEXT_QA, "qry_text"),
        (Parser.TEXT_QA, "tgt_text"),
        (Parser.IMAGE_QA, "qry_img_path"),
        (Parser.IMAGE_T2I, "tgt_img_path"),
    ],
)
def test_a_missing_field_is_named(folder, parser, field):
    record = {key: value for key, value in GOOD[parser].items() if key != field}
    with pytest.raises(RecordInvalid, match=rf"record 0: {field} "):
        load(folder, parser, [record])


def test_a_missing_image_names_file_and_record(folder):
    with pytest.raises(DataMissing, match=r"record 0: qry_img_path: .*images/none\.png does not exist"):
        load(folder, Parser.IMAGE_QA, [GOOD[Parser.IMAGE_QA] | {"qry_img_path": "none.png"}])


def test_an_image_root_may_be_a_link_to_where_a_restricted_source_lies(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("restricted") / "images"
    (folder / "images").rename(elsewhere)
    (folder / "images").symlink_to(elsewhere)
    assert len(load(folder, Parser.IMAGE_QA, [GOOD[Parser.IMAGE_QA]]).queries) == 1


@pytest.mark.parametrize(
    ("content", "said"), [("{}", "JSON list"), ("[]", "no records"), ("[1]", "record 0: a JSON object")]
)
def test_a_file_that_is_no_list_of_records(folder, content, said):
    spec = task_spec()
    path = write_records(folder, spec, [])
    path.write_text(content)
    with pytest.raises(SuiteInvalid, match=said):
        load_task(folder, spec)


def test_a_task_without_its_file_is_missing_data(tmp_path):
    assert not task_is_installed(tmp_path, task_spec())
    with pytest.raises(DataMissing, match="does not exist"):
        load_task(tmp_path, task_spec())


def test_a_task_is_installed_once_file_and_images_are_there(folder):
    spec = task_spec()
    write_records(folder, spec, [GOOD[Parser.TEXT_QA]])
    assert task_is_installed(folder, spec)
    for name in IMAGES:
        (folder / "images" / name).unlink()
    assert not task_is_installed(folder, spec)


def test_a_folder_with_a_manifest_is_that_suite(tmp_path):
    suite = suite_of(task_spec("One"), task_spec("Two"))
    write_manifest(tmp_path, suite)
    assert read_suite(tmp_path) == suite


def test_a_folder_in_the_releases_layout_is_the_release(tmp_path):
    (tmp_path / "3D_Task").mkdir()
    assert read_suite(tmp_path) == medheb_suite()


def test_any_other_folder_is_refused(tmp_path):
    with pytest.raises(SuiteInvalid, match="is no suite"):
        read_suite(tmp_path)


def test_tasks_are_selected_in_the_suites_order():
    suite = suite_of(task_spec("One"), task_spec("Two"), task_spec("Three"))
    assert [spec.name for spec in select_tasks(suite, ["Three", "One"])] == ["One", "Three"]
    assert select_tasks(suite, []) == suite.tasks
    with pytest.raises(TaskUnknown, match="Four"):
        select_tasks(suite, ["Four"])


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(IMAGES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ["qry_inst", "qry_text", "qry_img_path", "qry_modality", "tgt_text", "tgt_img_path", "tgt_modality"],
        JSON_VALUES,
    ),
)


def load_or_message(folder, spec):
    try:
        return load_task(folder, spec), ""
    except EvaluationError as error:
        return None, error.message


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parser=st.sampled_from(sorted(GOOD)), changes=FIELDS, pool=st.sampled_from(PoolScope))
def test_any_record_is_read_whole_or_refused_by_name(folder, parser, changes, pool):
    record = GOOD[parser] | changes
    path = folder / task_spec().data_path
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([record, GOOD[parser]]), encoding="utf-8")
    task, message = load_or_message(folder, task_spec(parser=parser, pool=pool))
    if task is None:
        assert str(folder) in message
    else:
        assert len(task.queries) == 2
        assert all(query.relevant < set(query.pool) for query in task.queries)
        assert all(query.excluded not in query.relevant for query in task.queries)


@pytest.mark.real_data
def test_real_volumes_and_images_are_read_and_ranked(tmp_path, real_data):
    """NIfTI files, a DICOM series folder and JPEG images of real patients, under an image root that is a link."""
    (tmp_path / "images").symlink_to(real_data / "open")
    volumes = sorted((real_data / "open" / "mri_hippocampus_3d" / "images").glob("*.nii.gz"))[:3]
    series = next(folder for folder in (real_data / "open" / "volumes_misc").iterdir() if folder.is_dir())
    paths = [str(path.relative_to(real_data / "open")) for path in [*volumes, series]]
    record = {"qry_inst": "", "qry_text": "hippocampus", "tgt_modality": "video", "tgt_img_path": paths}
    spec = task_spec(parser=Parser.VOLUME_T2I)
    write_records(tmp_path, spec, [record])
    task = load_task(tmp_path, spec)
    assert len(task.queries[0].pool) == 4
    assert all(candidate.kinds == {InputKind.VOLUME} for candidate in pool_of(task))
    vectors = embed_inputs(ChanceEmbedder(dimension=8, seed=1), task.inputs, batch_size=2)
    result = evaluate_task(task, vectors, cost=EmbeddingCost())
    assert result.chance == 0.25
    assert 0 <= result.metrics[0].value <= 1
