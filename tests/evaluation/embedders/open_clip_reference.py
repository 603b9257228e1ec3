"""A program that lets open_clip make small repositories and their vectors, and it and timm those of MedImageInsight.

Arguments: a folder, which holds `medimageinsight.safetensors` under the official names and `tokens.json`, and pictures.

It runs in a process of its own, because what open_clip needs changes what transformers can do. Where torchvision's
compiled part was built for another torch, the names of its operators are declared without it: open_clip and timm use
its Python part alone.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

TEXTS = ("no pleural effusion", "a &lt; b,\n “quoted”  and more", "effusion " * 300, "é")

OPERATORS = ("nms", "qnms", "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
CLIP_CONFIG: dict[str, Any] = {
    "embed_dim": 40,
    "quick_gelu": True,
    "vision_cfg": {"image_size": 96, "layers": 2, "width": 96, "head_width": 32, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 514, "width": 64, "heads": 4, "layers": 2},
}
# As BiomedCLIP's, with timm's smallest transformer.
BIOMEDCLIP_CONFIG: dict[str, Any] = {
    "embed_dim": 48,
    "vision_cfg": {
        "timm_model_name": "vit_tiny_patch16_224",
        "timm_model_pretrained": False,
        "timm_pool": "",
        "timm_proj": "linear",
        "image_size": 224,
    },
    "text_cfg": {
        "hf_model_name": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
        "hf_model_pretrained": False,
        "hf_proj_type": "mlp",
        "hf_pooler_type": "cls_last_hidden_state_pooler",
        "context_length": 256,
    },
}
BERT_SIZES = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def declare_operators() -> None:
    found = importlib.util.find_spec("torchvision")
    binary = next(Path(str(found and found.origin)).parent.glob("_C*.so"), None)
    try:
        torch.ops.load_library(binary)
    except OSError:
        library = torch.library.Library("torchvision", "DEF")
        for name in OPERATORS:
            library.define(f"{name}(Tensor values) -> Tensor")
            library.define(f"_{name}_backward(Tensor values) -> Tensor")
        import torchvision

        torchvision.__library__ = library  # lives as long as the module


def write(folder: Path, config: dict[str, Any], preprocessing: dict[str, Any], pictures: list[Path]) -> None:
    import open_clip
    from transformers import BertConfig

    torch.manual_seed(1)
    if "hf_model_name" in config["text_cfg"]:
        words = len((folder / "vocab.txt").read_text(encoding="utf-8").split())
        sizes = BertConfig(vocab_size=words, **BERT_SIZES)
        # open_clip asks the hub for the sizes of a BERT
        with patch("open_clip.hf_model.AutoConfig.from_pretrained", lambda *_, **__: sizes):
            model = open_clip.CustomTextCLIP(**config)
        tokenizer = open_clip.tokenizer.HFTokenizer(str(folder), context_length=256, tokenizer_type="bert")
    else:
        model = open_clip.CLIP(**config)
        tokenizer = open_clip.tokenizer.HFTokenizer(
            str(folder), context_length=77, clean="lower", tokenizer_type="clip"
        )
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "embed" not in name:
            torch.nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
    model.eval()
    document = {"model_cfg": config, "preprocess_cfg": preprocessing}
    (folder / "open_clip_config.json").write_text(json.dumps(document), encoding="utf-8")
    state = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, folder / "open_clip_model.safetensors")
    settings = open_clip.transform.PreprocessCfg(size=model.visual.image_size, **preprocessing)
    transform = open_clip.transform.image_transform_v2(settings, is_train=False)
    pixels = torch.stack([transform(Image.open(path)) for path in pictures])
    with torch.inference_mode():
        images = model.encode_image(pixels, normalize=True).numpy()
        texts = model.encode_text(tokenizer(list(TEXTS)), normalize=True).numpy()
    np.savez(folder / "expected.npz", images=images, texts=texts)


def medimageinsight_vectors(state: dict[str, torch.Tensor], tokens: list[list[int]], pictures: list[Path]) -> Any:
    """Of images by timm's DaViT, configured as its `davit_huge_fl` but smaller, and of texts by open_clip's transformer."""
    import timm
    from open_clip.transformer import LayerNorm, QuickGELU, TextTransformer
    from torchvision import transforms

    def below(prefix: str) -> dict[str, torch.Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}

    visual = below("image_encoder.")
    norm = {name: visual.pop(f"norms.{name}") for name in ("weight", "bias")}
    widths = [len(visual[f"convs.{stage}.proj.weight"]) for stage in range(4)]
    depths = [len({name.split(".")[2] for name in visual if name.startswith(f"blocks.{stage}.")}) for stage in range(4)]
    davit = timm.create_model(
        "davit_huge_fl",
        embed_dims=widths,
        depths=depths,
        num_heads=[width // 32 for width in widths],
        num_classes=0,
    )
    named = timm.models.davit._convert_florence2({f"vision_tower.{name}": t for name, t in visual.items()}, davit)
    missing, surplus = davit.load_state_dict(named, strict=False)
    assert not surplus
    assert all(name.startswith("head.") for name in missing)
    language = below("lang_encoder.")
    words, width = language["token_embedding.weight"].shape
    text = TextTransformer(
        context_length=len(language["positional_embedding"]),
        vocab_size=words,
        width=width,
        heads=width // 64,
        layers=len({name.split(".")[1] for name in language if name.startswith("resblocks.")}),
        output_dim=state["lang_projection"].shape[1],
        no_causal_mask=True,
        act_layer=QuickGELU,
        norm_layer=lambda width: LayerNorm(width, eps=1e-12),
    )
    inner = {(f"transformer.{name}" if name.startswith("resblocks.") else name): t for name, t in language.items()}
    text.load_state_dict(inner | {"text_projection": state["lang_projection"]})
    prepare = transforms.Compose(
        [
            transforms.Resize((480, 480), interpolation=transforms.InterpolationMode.BICUBIC),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    unit = torch.nn.functional.normalize
    with torch.inference_mode():
        pixels = torch.stack([prepare(Image.open(path).convert("RGB")) for path in pictures])
        pooled = davit.eval().forward_features(pixels).mean(dim=(2, 3))
        normed = torch.nn.functional.layer_norm(pooled, pooled.shape[1:], norm["weight"], norm["bias"], 1e-5)
        texts = torch.cat([text.eval()(torch.tensor([row])) for row in tokens])
        return unit(normed @ state["image_projection"]).numpy(), unit(texts).numpy()


def main() -> None:
    folder, *pictures = map(Path, sys.argv[1:])
    torch.set_num_threads(1)
    declare_operators()
    write(folder / "biomedclip", BIOMEDCLIP_CONFIG, {}, pictures)
    write(folder / "clip", CLIP_CONFIG, {"resize_mode": "squash", "std": [0.2, 0.3, 0.4]}, pictures)
    tokens = json.loads((folder / "tokens.json").read_text())
    state = load_file(folder / "medimageinsight.safetensors")
    images, texts = medimageinsight_vectors(state, tokens, pictures)
    np.savez(folder / "medimageinsight.npz", images=images, texts=texts)


if __name__ == "__main__":
    main()
