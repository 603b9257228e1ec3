"""VLM2Vec-V2.0 against Qwen2-VL called by hand with peft's own adapter on it, not merged."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoTokenizer, Qwen2VLForConditionalGeneration

from evaluation.decoding import decode
from evaluation.embedders.registry import detect_family, load_embedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import InputUnsupported
from evaluation.inputs import EmbeddingInput
from evaluation.vocabulary import EmbedderFamily
from tests.evaluation.embedders.layouts import write_adapter, write_qwen2_vl
from tests.evaluation.embedders.qwen_by_hand import Cutter, frame_pairs, opened, unit

TOLERANCE = 2e-5
SAME = 1 - 1e-5
# peft reads a property that transformers renames; only the reference here goes that way
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
CUTTER = Cutter(14, (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "Qwen2-VL-2B-Instruct"
    write_qwen2_vl(folder, 7)
    return folder


@pytest.fixture(scope="module")
def dora(tmp_path_factory: pytest.TempPathFactory, base: Path) -> Path:
    folder = tmp_path_factory.mktemp("adapters") / "VLM2Vec-V2.0"
    write_adapter(folder, base, 8, dora=True)
    return folder


def unmerged(base: Path, adapter: Path) -> torch.nn.Module:
    """The model as peft runs it, with the adapter's tensors put in place by their names here."""
    model = Qwen2VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32).eval()
    config = LoraConfig.from_pretrained(adapter)
    config.base_model_name_or_path = None
    adapted = get_peft_model(model, config).eval()
    parameters = dict(adapted.named_parameters())
    filled = set()
    for key, tensor in load_file(adapter / "adapter_model.safetensors").items():
        end = ".lora_magnitude_vector" if key.endswith("vector") else key[key.index(".lora_") :].removesuffix(".weight")
        place = key[: key.index(".lora_")].replace("model.model.layers", "model.model.language_model.layers")
        name = f"{place}{end}.default.weight"
        parameters[name].data.copy_(tensor)
        filled.add(name)
    assert filled == {name for name in parameters if ".lora_" in name}
    return adapted


def written(source: EmbeddingInput, *, authors: bool) -> tuple[str, dict[str, torch.Tensor]]:
    """The prompt, and pixels with their grids."""
    if not source.images:
        return " ".join(part for part in (source.instruction, source.text) if part), {}
    if source.is_volume:
        cut = [CUTTER.cut(pair, fewest=3_136, most=151_200) for pair in frame_pairs(source.images)]
        counts, mark = [sum(rows * columns // 4 for _, (_, rows, columns) in cut)], "<|video_pad|>"
    else:
        cut = [CUTTER.cut([image], fewest=3_136, most=1_003_520) for image in opened(source.images)]
        counts, mark = [rows * columns // 4 for _, (_, rows, columns) in cut], "<|image_pad|>"
    start, end = ("", "") if authors else ("<|vision_start|>", "<|vision_end|>")
    marks = "".join(f"{start}{mark * count}{end}" for count in counts)
    patches, grids = torch.cat([rows for rows, _ in cut]), torch.tensor([grid for _, grid in cut])
    prompt = " ".join(part for part in (marks, source.instruction, source.text) if part)
    if source.is_volume:
        grids = torch.tensor([[len(cut), *grids[0, 1:].tolist()]])
        return prompt, {"pixel_values_videos": patches, "video_grid_thw": grids}
    return prompt, {"pixel_values": patches, "image_grid_thw": grids}


def places(ids: list[int], marks: dict[int, bool], grids: list[list[int]]) -> torch.Tensor:
    """Positions as the Qwen2-VL paper numbers them: text counts on, images by time, row and column from there.

    After an image the count goes on from the largest position in it.
    """
    rows: list[tuple[int, int, int]] = []
    following, remaining, position = 0, iter(grids), 0
    while position < len(ids):
        if ids[position] not in marks:
            rows.append((following,) * 3)
            following, position = following + 1, position + 1
            continue
        times, high, wide = next(remaining)
        grid = [(t, y, x) for t in range(times) for y in range(high // 2) for x in range(wide // 2)]
        rows += [(following + t, following + y, following + x) for t, y, x in grid]
        following += max(times, high // 2, wide // 2)
        position += len(grid)
    return torch.tensor(rows).T[:, None]


@torch.inference_mode()
def reference(model: torch.nn.Module, folder: Path, source: EmbeddingInput, *, authors: bool) -> np.ndarray:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt, pixels = written(source, authors=authors)
    ids = tokenizer(prompt)["input_ids"]
    marks = {tokenizer.convert_tokens_to_ids(mark): True for mark in ("<|image_pad|>", "<|video_pad|>")}
    grids = next((tensor.tolist() for name, tensor in pixels.items() if "grid" in name), [])
    positions = torch.arange(len(ids)).expand(3, 1, -1) if authors else places(ids, marks, grids)
    output = model(
        input_ids=torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        position_ids=positions,
        output_hidden_states=True,
        **pixels,
    )
    return unit(output.hidden_states[-1][0, -1])


@pytest.mark.parametrize("name", ["", "medheb-release"])
def test_every_kind_of_input_equals_the_model_with_its_adapter_not_merged(
    base: Path, dora: Path, mixed_inputs: list[EmbeddingInput], name: str
) -> None:
    embedder = load_embedder(base, adapter_folder=dora, encode_config=name)
    assert embedder.description.family is EmbedderFamily.QWEN2_VL
    rows = embed_inputs(embedder, mixed_inputs, batch_size=len(mixed_inputs))
    model = unmerged(base, dora)
    plain = Qwen2VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32).eval()
    for row, source in zip(rows, mixed_inputs, strict=True):
        expected = reference(model, base, source, authors=not name)
        assert row @ expected >= SAME
        assert np.abs(row - expected).max() < TOLERANCE
        assert row @ reference(plain, base, source, authors=not name) < 0.999


def test_the_bare_mark_goes_with_sequential_positions(base: Path, dora: Path, image_files: list[Path]) -> None:
    source = EmbeddingInput(images=(image_files[1],), text="a nodule")
    by_rows, sequential = (
        embed_inputs(load_embedder(base, adapter_folder=dora, encode_config=name), [source], batch_size=1)[0]
        for name in ("medheb-release", "default")
    )
    assert by_rows @ sequential < 0.9999


@pytest.mark.parametrize("name", ["default", "medheb-release"])
def test_text_behind_a_long_video_lies_behind_its_times(base: Path, image_files: list[Path], name: str) -> None:
    # ten slices: five steps of 2 x 2 tokens, so time goes further than rows and columns
    source = EmbeddingInput(images=(image_files[0],) * 5 + (image_files[2],) * 5, is_volume=True, text="a nodule")
    row = embed_inputs(load_embedder(base, encode_config=name), [source], batch_size=1)[0]
    model = Qwen2VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32).eval()
    assert np.abs(row - reference(model, base, source, authors=name == "default")).max() < TOLERANCE


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_batch_of_one_equals_a_batch_of_many_with_padding_on_either_side(
    base: Path, tmp_path: Path, mixed_inputs: list[EmbeddingInput], side: str
) -> None:
    folder = shutil.copytree(base, tmp_path / side)
    path = folder / "tokenizer_config.json"
    path.write_text(path.read_text().replace('"padding_side": "right"', f'"padding_side": "{side}"'))
    for name in ("default", "medheb-release"):
        embedder = load_embedder(folder, encode_config=name)
        many, one = (embed_inputs(embedder, mixed_inputs, batch_size=size) for size in (len(mixed_inputs), 1))
        assert np.abs(many - one).max() < TOLERANCE


def test_merged_weights_saved_as_a_repository_embed_as_base_and_adapter(
    base: Path, dora: Path, tmp_path: Path, mixed_inputs: list[EmbeddingInput]
) -> None:
    folder = shutil.copytree(base, tmp_path / "merged", ignore=shutil.ignore_patterns("*.safetensors", "*.index.json"))
    unmerged(base, dora).merge_and_unload().save_pretrained(folder)
    merged, adapted = load_embedder(folder), load_embedder(base, adapter_folder=dora)
    rows = [embed_inputs(embedder, mixed_inputs, batch_size=3) for embedder in (merged, adapted)]
    assert np.abs(rows[0] - rows[1]).max() < TOLERANCE
    assert merged.description.encode_config["adapter"] is False


def test_counts_are_those_that_the_model_is_given(base: Path, mixed_inputs: list[EmbeddingInput]) -> None:
    batch = [decode(source) for source in mixed_inputs]
    for name in ("default", "medheb-release"):
        embedder = load_embedder(base, encode_config=name)
        given: list[torch.Tensor] = []
        embedder._model.register_forward_pre_hook(
            lambda _model, _arguments, named, given=given: given.append(named["attention_mask"]), with_kwargs=True
        )
        embedder.embed(batch)
        assert embedder.token_counts(batch) == given[0].sum(dim=1).tolist()


@pytest.mark.parametrize("mark", ["<|image_pad|>", "<|video_pad|>"])
def test_marks_in_a_text_are_refused(base: Path, mark: str) -> None:
    with pytest.raises(InputUnsupported, match="marks of the model"):
        load_embedder(base).embed([decode(EmbeddingInput(text=f"look: {mark}"))])


def test_the_base_is_known_by_its_architecture(base: Path) -> None:
    assert detect_family(base) is EmbedderFamily.QWEN2_VL
