"""Tiny repositories of random weights in the layouts of SigLIP, SigLIP 2 and MedSigLIP."""

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import Siglip2Config, Siglip2Model, SiglipConfig, SiglipModel

WIDTH = 32
SIZE = {"hidden_size": WIDTH, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
SENTENCES = (
    "a nodule in the left lung",
    "no pleural effusion is seen",
    "normal heart size on the chest radiograph",
    "an opacity of the right lower lobe",
)


def write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def write_siglip(folder: Path, seed: int, *, text_tokens: int, pixels: int) -> None:
    """SigLIP and MedSigLIP: a sentencepiece model that reads small letters, `</s>` as end and as padding."""
    folder.mkdir(parents=True)
    pieces = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=pieces,
        vocab_size=50,
        hard_vocab_limit=False,
        model_type="unigram",
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
    )
    (folder / "spiece.model").write_bytes(pieces.getvalue())
    edge = {"lstrip": True, "normalized": False, "rstrip": True, "single_word": False, "special": True}
    write_json(
        folder / "tokenizer_config.json",
        {
            "added_tokens_decoder": {"1": {"content": "</s>", **edge}, "2": {"content": "<unk>", **edge}},
            "additional_special_tokens": [],
            "clean_up_tokenization_spaces": True,
            "do_lower_case": True,
            "eos_token": "</s>",
            "model_input_names": ["input_ids"],
            "model_max_length": text_tokens,
            "pad_token": "</s>",
            "processor_class": "SiglipProcessor",
            "sp_model_kwargs": {},
            "tokenizer_class": "SiglipTokenizer",
            "unk_token": "<unk>",
        },
    )
    _write_model(folder, seed, (SiglipModel, SiglipConfig), _text(64, text_tokens), _vision(pixels))
    _write_preprocessor(
        folder, {"image_processor_type": "SiglipImageProcessor", "size": _square(pixels), "resample": 3}
    )


def write_siglip2(folder: Path, seed: int) -> None:
    """SigLIP 2 of fixed resolution: the type is SigLIP's, the tokenizer Gemma's, which leaves capitals."""
    folder.mkdir(parents=True)
    words = _write_gemma_tokenizer(folder)
    _write_model(folder, seed, (SiglipModel, SiglipConfig), _text(words, 64), _vision(64))
    _write_preprocessor(folder, {"image_processor_type": "SiglipImageProcessor", "size": _square(64), "resample": 2})


def write_siglip2_of_native_resolution(folder: Path, seed: int) -> None:
    """SigLIP 2 that sees images in their own proportions, as at most nine patches here."""
    folder.mkdir(parents=True)
    words = _write_gemma_tokenizer(folder)
    vision = {**SIZE, "num_patches": 9, "patch_size": 16}
    _write_model(folder, seed, (Siglip2Model, Siglip2Config), _text(words, 64), vision)
    _write_preprocessor(
        folder,
        {"image_processor_type": "Siglip2ImageProcessor", "max_num_patches": 9, "patch_size": 16, "resample": 2},
    )


def _square(pixels: int) -> dict[str, int]:
    return {"height": pixels, "width": pixels}


def _text(words: int, tokens: int) -> dict[str, Any]:
    return {
        **SIZE,
        "vocab_size": words,
        "max_position_embeddings": tokens,
        "projection_size": WIDTH,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 1,
    }


def _vision(pixels: int) -> dict[str, Any]:
    return {**SIZE, "image_size": pixels, "patch_size": 16}


def _write_model(
    folder: Path, seed: int, classes: tuple[Any, Any], text: dict[str, Any], vision: dict[str, Any]
) -> None:
    model_class, config_class = classes
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = model_class(config_class(text_config=text, vision_config=vision))
    model.save_pretrained(folder)
    write_json(
        folder / "config.json",
        {
            "architectures": [model_class.__name__],
            "initializer_factor": 1.0,
            "model_type": config_class.model_type,
            "text_config": {**text, "model_type": f"{config_class.model_type}_text_model"},
            "vision_config": {**vision, "model_type": f"{config_class.model_type}_vision_model"},
            "transformers_version": "4.49.0.dev0",
        },
    )


def _write_preprocessor(folder: Path, document: dict[str, Any]) -> None:
    write_json(
        folder / "preprocessor_config.json",
        {
            **document,
            "do_resize": True,
            "do_rescale": True,
            "do_normalize": True,
            "do_convert_rgb": True,
            "rescale_factor": 1 / 255,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        },
    )


def _write_gemma_tokenizer(folder: Path) -> int:
    """One token a printable letter, bytes for the rest; the end is marked, the start is not. The number of words."""
    marks = ("<pad>", "<eos>", "<bos>", "<unk>")
    pieces = [*marks, "▁", *(f"<0x{byte:02X}>" for byte in range(256)), *(chr(code) for code in range(33, 127))]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], fuse_unk=True, unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous", invert=False)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 1)])
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {
            "add_bos_token": False,
            "add_eos_token": True,
            "bos_token": "<bos>",
            "eos_token": "<eos>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "model_max_length": 64,
            "padding_side": "right",
            "processor_class": "SiglipProcessor",
            "tokenizer_class": "GemmaTokenizer",
        },
    )
    return len(vocabulary)
