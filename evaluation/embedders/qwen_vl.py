"""What the embedders on Qwen's vision-language models share.

A family says in a `PromptFormat` how an input is written for its model. Marks of images, token types and positions are
made here, because the processors of transformers need torchvision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import torch
from PIL import Image
from transformers import AutoModel
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from evaluation.decoding import DecodedInput
from evaluation.embedders.adapters import merge_adapter
from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.kinds import require_kinds
from evaluation.embedders.loading import (
    compute_dtype,
    count_parameters,
    dtype_name,
    load_image_processor,
    load_tokenizer,
    load_weights,
)
from evaluation.errors import InputUnsupported, ModelInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import InputKind

IMAGE_MARK = "<|image_pad|>"
VIDEO_MARK = "<|video_pad|>"
VISION_START, VISION_END = "<|vision_start|>", "<|vision_end|>"

_MAX_ASPECT_RATIO = 200
_FRAMES_A_STEP = 2
_IMAGE_TYPE, _VIDEO_TYPE = 1, 2


class Positions(StrEnum):
    """How the tokens of a prompt are numbered on the three axes (time, row, column)."""

    OWN = "as the model does itself"
    SEQUENTIAL = "one after the other"
    BY_GRID = "text one after the other, images and videos by time, row and column"


class PromptFormat(Protocol):
    """How a family writes one input as the text that its model reads."""

    @property
    def positions(self) -> Positions:
        """How tokens are numbered."""
        ...

    def as_video(self, source: EmbeddingInput) -> bool:
        """Whether the images of an input are the frames of one video, two of them a step."""
        ...

    def first_size(self, height: int, width: int) -> tuple[int, int]:
        """The (height, width) to which an image is brought before its patches are cut; its own where it is not."""
        ...

    def pixels(self, count: int, *, is_volume: bool) -> tuple[int, int]:
        """The fewest and the most pixels that each of `count` images is brought to."""
        ...

    def prompt(self, source: EmbeddingInput, *, tokens: Sequence[int], text: str) -> str:
        """The whole prompt.

        Args:
            source: for its instruction; its text is given apart.
            tokens: how many visual tokens each image has, or each step of a video; the mark stands once a token.
            text: the text after its cut.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Pictures:
    """The images of one input: rows of numbers, one a patch, and one (time, rows, columns) an image or video."""

    patches: torch.Tensor
    grids: torch.Tensor
    is_video: bool


class QwenVlEmbedder:
    """The hidden state of a prompt's last token, of unit length."""

    def __init__(
        self,
        folder: Path,
        *,
        prompt_format: PromptFormat,
        adapter_folder: Path | None,
        device: str,
        config: EncodeConfig,
    ) -> None:
        dtype = compute_dtype(device, config)
        base = load_weights(AutoModel, folder, dtype=dtype, device=device)
        self._model = base if adapter_folder is None else merge_adapter(base, adapter_folder).eval()
        self._tokenizer = load_tokenizer(folder)
        self._processor = load_image_processor(folder)
        self._format = prompt_format
        self._device = device
        self._max_text_tokens = config.whole("max_text_tokens")
        self._types = {
            int(self._model.config.image_token_id): _IMAGE_TYPE,
            int(self._model.config.video_token_id): _VIDEO_TYPE,
        }
        marks = self._tokenizer.convert_tokens_to_ids([IMAGE_MARK, VIDEO_MARK])
        if marks != list(self._types) or self._tokenizer.pad_token is None:
            raise ModelInvalid(
                f"{folder.name}: the tokenizer lacks a padding token, or its marks {IMAGE_MARK} and {VIDEO_MARK} are not "
                "those of config.json."
            )
        self.description = ModelDescription(
            family=config.family,
            architecture=type(self._model).__name__,
            dimension=int(self._model.config.text_config.hidden_size),
            parameters=count_parameters(self._model),
            kinds=tuple(InputKind),
            encode_config=config.described(dtype=dtype_name(dtype), adapter=adapter_folder is not None),
        )

    @property
    def network(self) -> torch.nn.Module:
        """The network that gives the states."""
        network: torch.nn.Module = self._model
        return network

    @torch.inference_mode()
    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """Unit-length states of the last tokens, shape (len(batch), dimension).

        Raises:
            InputUnsupported: an image is over 200 times longer than wide, or a text holds a mark of images.
        """
        inputs = {name: tensor.to(self._device) for name, tensor in self.tensors(batch).items()}
        rows: FloatMatrix = self.vectors(inputs).cpu().numpy()
        return rows

    def tensors(self, batch: Sequence[DecodedInput]) -> dict[str, torch.Tensor]:
        """What the network is given of these inputs, on the CPU.

        Raises:
            InputUnsupported: see `embed`.
        """
        require_kinds((decoded.source for decoded in batch), self.description)
        pictures = [self._pictures(decoded) for decoded in batch]
        prompts = [self._prompt(decoded, self._picture_tokens(decoded)) for decoded in batch]
        tokens = self._tokenizer(prompts, padding="longest", return_tensors="pt")
        ids, mask = tokens["input_ids"], tokens["attention_mask"]
        types = self._token_types(ids)
        self._require_marks(batch, types)
        inputs = {"input_ids": ids, "attention_mask": mask, **_visual_inputs(pictures, types)}
        if self._format.positions is Positions.SEQUENTIAL:
            inputs["position_ids"] = sequential_positions(mask)
        elif self._format.positions is Positions.BY_GRID:
            grids = [[] if shown is None else shown.grids.tolist() for shown in pictures]
            inputs["position_ids"] = grid_positions(mask, types, grids, merge=self._processor.merge_size)
        return inputs

    def vectors(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Unit-length states of the last tokens, (inputs, dimension), float32; `tensors` are on the network's device."""
        states = self._model(**tensors, use_cache=False).last_hidden_state
        return torch.nn.functional.normalize(last_token_states(states, tensors["attention_mask"]).float(), dim=-1)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of each whole prompt: the marks, the instruction, the text and every image's visual tokens."""
        require_kinds((decoded.source for decoded in batch), self.description)
        visual = [self._picture_tokens(decoded) for decoded in batch]
        short = [self._prompt(decoded, [1] * len(counts)) for decoded, counts in zip(batch, visual, strict=True)]
        lengths = [len(ids) for ids in self._tokenizer(short)["input_ids"]]
        return [length - len(counts) + sum(counts) for length, counts in zip(lengths, visual, strict=True)]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text has more tokens than the config allows."""
        return [self._cut(text) != text for text in texts]

    def _prompt(self, decoded: DecodedInput, tokens: Sequence[int]) -> str:
        return self._format.prompt(decoded.source, tokens=tokens, text=self._cut(decoded.source.text))

    def _cut(self, text: str) -> str:
        """The text up to the most tokens that the config allows, so that what follows it in the prompt stays whole."""
        most = self._max_text_tokens
        if len(text.encode("utf-8", "surrogatepass")) <= most:
            return text
        encoded = self._tokenizer(
            text, add_special_tokens=False, truncation=True, max_length=most, return_offsets_mapping=True
        )
        return text[: encoded["offset_mapping"][-1][1]]

    def _frames(self, decoded: DecodedInput) -> tuple[bool, list[tuple[int, int]]]:
        """Whether the images are a video, and the (height, width) of each before its patches are cut.

        The frames of a video are of the first one's size and of an even number; the last is shown twice for that.
        """
        for image in decoded.images:
            if max(image.size) > _MAX_ASPECT_RATIO * min(image.size):
                raise InputUnsupported(f"{decoded.source.label}: {image.width} x {image.height} pixels is too long.")
        sizes = [self._format.first_size(image.height, image.width) for image in decoded.images]
        if not self._format.as_video(decoded.source):
            return False, sizes
        return True, sizes[:1] * (len(sizes) + len(sizes) % _FRAMES_A_STEP)

    def _limits(self, decoded: DecodedInput, count: int) -> tuple[int, int]:
        return self._format.pixels(count, is_volume=decoded.source.is_volume)

    def _picture_tokens(self, decoded: DecodedInput) -> list[int]:
        """Visual tokens of each image, or of each step of a video, without looking at a pixel."""
        is_video, sizes = self._frames(decoded)
        if not sizes:
            return []
        fewest, most = self._limits(decoded, len(sizes))
        side = self._processor.patch_size * self._processor.merge_size
        return [
            (height // side) * (width // side)
            for height, width in (
                smart_resize(*size, factor=side, min_pixels=fewest, max_pixels=most)
                for size in sizes[:: _FRAMES_A_STEP if is_video else 1]
            )
        ]

    def _pictures(self, decoded: DecodedInput) -> _Pictures | None:
        """Patches and grids of the images of one input, None without images."""
        is_video, sizes = self._frames(decoded)
        if not sizes:
            return None
        images = [*decoded.images, *decoded.images[-1:] * (len(sizes) - len(decoded.images))]
        way = Image.Resampling.BILINEAR if is_video else Image.Resampling.BICUBIC
        brought = [_resized(image, size, way) for image, size in zip(images, sizes, strict=True)]
        fewest, most = self._limits(decoded, len(sizes))
        size = {"shortest_edge": fewest, "longest_edge": most}
        cut = self._processor(images=brought, size=size, return_tensors="pt")
        patches, grids = cut["pixel_values"], cut["image_grid_thw"]
        return _Pictures(*_as_video(patches, grids), is_video=True) if is_video else _Pictures(patches, grids, False)

    def _token_types(self, ids: torch.Tensor) -> torch.Tensor:
        """1 at tokens of images, 2 at tokens of videos, 0 elsewhere; the shape of `ids`."""
        types = torch.zeros_like(ids, dtype=torch.int32)
        for mark, kind in self._types.items():
            types[ids == mark] = kind
        return types

    def _require_marks(self, batch: Sequence[DecodedInput], types: torch.Tensor) -> None:
        for decoded, found in zip(batch, types.count_nonzero(dim=1).tolist(), strict=True):
            if found != sum(self._picture_tokens(decoded)):
                raise InputUnsupported(
                    f"{decoded.source.label}: its text holds {IMAGE_MARK} or {VIDEO_MARK}, marks of the model."
                )


def sequential_positions(mask: torch.Tensor) -> torch.Tensor:
    """Positions 0, 1, 2 ... of the unmasked tokens, the same on each of the three axes; (n, t) to (3, n, t)."""
    return (mask.long().cumsum(dim=1) - 1).clamp(min=0).expand(3, -1, -1)


def grid_positions(
    mask: torch.Tensor, types: torch.Tensor, grids: Sequence[Sequence[Sequence[int]]], *, merge: int
) -> torch.Tensor:
    """Positions as Qwen2-VL was trained with; (n, t) to (3, n, t).

    Text counts on by one on all axes. The tokens of an image or video lie at their time, row and column from there, and
    the count goes on after the largest position among them, time included. transformers counts on after rows and
    columns alone, so that the text behind a long video would lie within its times.

    Args:
        mask: 1 where a token is no padding.
        types: 0 at text; each run of others is one image or video.
        grids: (times, rows, columns) of each image or video of each row, in patches, in order.
        merge: how many patches on a side become one token.
    """
    positions = torch.zeros(3, *mask.shape, dtype=torch.long)
    for row, shown in enumerate(grids):
        following, left = 0, iter(shown)
        parts = []
        for kind, run in groupby(types[row][mask[row].bool()].tolist()):
            times, high, wide = next(left) if kind else (0, 0, 0)
            axes = (times, high // merge, wide // merge)
            part = torch.cartesian_prod(*map(torch.arange, axes)).T if kind else _counted(len(list(run)))
            parts.append(part + following)
            following += int(part.max()) + 1
        positions[:, row, mask[row].bool()] = torch.cat(parts, dim=1)
    return positions


def _counted(length: int) -> torch.Tensor:
    return torch.arange(length).expand(3, -1)


def last_token_states(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The state at the last unmasked position of each row, on whichever side the padding is; (n, t, d) to (n, d)."""
    positions = torch.arange(mask.shape[1], device=mask.device)
    last = (mask * positions).argmax(dim=1)
    return states[torch.arange(len(states), device=states.device), last]


def _resized(image: Image.Image, size: tuple[int, int], way: Image.Resampling) -> Image.Image:
    height, width = size
    return image if image.size == (width, height) else image.resize((width, height), way)


def _as_video(patches: torch.Tensor, grids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Join patches of single frames two by two in time.

    A patch of an image holds its content twice, as (channels, 2, side, side). That of a video's step holds the first
    frame's at time 0 and the second's at time 1.
    """
    steps = len(grids) // _FRAMES_A_STEP
    rows, columns = grids[0, 1:].tolist()
    channels = 3
    frames = patches.reshape(steps, _FRAMES_A_STEP, rows * columns, channels, _FRAMES_A_STEP, -1)[:, :, :, :, 0]
    joined = frames.permute(0, 2, 3, 1, 4).reshape(steps * rows * columns, -1)
    return joined, torch.tensor([[steps, rows, columns]], dtype=grids.dtype)


def _visual_inputs(pictures: Sequence[_Pictures | None], types: torch.Tensor) -> dict[str, Any]:
    """What a model is given of a batch's images and videos; nothing where there are none."""
    inputs: dict[str, Any] = {}
    for is_video, pixels, grid in (
        (False, "pixel_values", "image_grid_thw"),
        (True, "pixel_values_videos", "video_grid_thw"),
    ):
        shown = [picture for picture in pictures if picture is not None and picture.is_video == is_video]
        if shown:
            inputs |= {
                pixels: torch.cat([picture.patches for picture in shown]),
                grid: torch.cat([picture.grids for picture in shown]),
                "mm_token_type_ids": types,
            }
    return inputs
