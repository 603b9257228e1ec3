"""The systems whose official files can be converted."""

from evaluation.conversion.conversion import Conversion, FileFormat
from evaluation.errors import ModelUnsupported

CONVERSIONS = (
    Conversion(
        system="pubmedclip",
        file_names=("pytorch_model.bin",),
        function="evaluation.conversion.pubmedclip:convert",
        pinned={
            "text_model.embeddings.token_embedding.weight": (49_408, 512),
            "vision_model.embeddings.patch_embedding.weight": (768, 3, 32, 32),
            "text_projection.weight": (512, 512),
        },
        tokenizer_source="flaviagiammarino/pubmed-clip-vit-base-patch32",
    ),
    Conversion(
        system="vlm2vec-v2",
        file_names=("adapter_model.bin",),
        function="evaluation.conversion.vlm2vec:convert",
        pinned={
            "base_model.model.model.layers.27.self_attn.q_proj.lora_magnitude_vector": (1_536,),
            "base_model.model.model.layers.27.self_attn.k_proj.lora_magnitude_vector": (256,),
            "base_model.model.model.layers.27.mlp.down_proj.lora_magnitude_vector": (1_536,),
        },
        is_adapter=True,
    ),
    Conversion(
        system="chexzero",
        # The authors published ten of one training, and average what they find.
        file_names=(
            "best_64_5e-05_original_22000_0.864.pt",
            "best_64_5e-05_original_18000_0.862.pt",
            "best_64_5e-05_original_16000_0.858.pt",
            "best_64_0.0001_original_35000_0.864.pt",
            "best_64_0.0001_original_17000_0.863.pt",
            "best_64_0.0001_original_16000_0.861.pt",
            "best_64_0.0002_original_23000_0.854.pt",
            "best_128_5e-05_original_22000_0.855.pt",
            "best_128_0.0002_original_15000_0.859.pt",
            "best_128_0.0002_original_8000_0.857.pt",
        ),
        function="evaluation.conversion.chexzero:convert",
        pinned={
            "token_embedding.weight": (49_408, 512),
            "visual.conv1.weight": (768, 3, 32, 32),
            "text_projection": (512, 512),
        },
        tokenizer_source="openai/clip-vit-base-patch32",
    ),
    Conversion(
        system="biomedclip",
        file_names=("open_clip_pytorch_model.bin",),
        function="evaluation.conversion.biomedclip:convert",
        pinned={
            "visual.trunk.patch_embed.proj.weight": (768, 3, 16, 16),
            "visual.head.proj.weight": (512, 768),
            "text.proj.0.weight": (640, 768),
        },
        tokenizer_source="microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224",
    ),
    Conversion(
        system="unimed-clip",
        file_names=("unimed_clip_vit_b16.pt",),
        function="evaluation.conversion.unimed_clip:convert",
        pinned={
            "visual.conv1.weight": (768, 3, 16, 16),
            "text_encoder.proj.0.weight": (640, 768),
            "text_encoder.proj.2.weight": (512, 640),
        },
        as_trained=True,
        tokenizer_source="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
    ),
    Conversion(
        system="unimed-clip-l14",
        file_names=("unimed_clip_vit_l14_base_text_encoder.pt",),
        function="evaluation.conversion.unimed_clip:convert",
        pinned={
            "visual.conv1.weight": (1_024, 3, 14, 14),
            "visual.positional_embedding": (577, 1_024),
            "text_encoder.proj.2.weight": (768, 768),
        },
        as_trained=True,
        tokenizer_source="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
    ),
    Conversion(
        system="pmc-clip",
        file_names=("checkpoint.pt",),
        function="evaluation.conversion.pmc_clip:convert",
        pinned={
            "visual.conv3.weight": (64, 32, 3, 3),
            "visual.attnpool.positional_embedding": (50, 2_048),
            "text_projection": (768, 768),
        },
        as_trained=True,
        tokenizer_source="microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext",
    ),
    Conversion(
        system="medclip",
        file_names=("pytorch_model.bin",),
        function="evaluation.conversion.medclip:convert",
        pinned={
            "text_model.projection_head.weight": (512, 768),
            "text_model.model.embeddings.word_embeddings.weight": (28_996, 768),
        },
        tokenizer_source="emilyalsentzer/Bio_ClinicalBERT",
        tokenizer_names=("vocab.txt",),
    ),
    Conversion(
        system="biovil",
        file_names=("biovil_image_resnet50_proj_size_128.pt",),
        second_file_names=("pytorch_model.bin",),
        function="evaluation.conversion.biovil:convert_biovil",
        pinned={
            "projector.model.0.weight": (128, 2_048, 1, 1),
            "cls_projection_head.dense_to_hidden.weight": (128, 768),
        },
        tokenizer_source="microsoft/BiomedVLP-CXR-BERT-specialized",
        tokenizer_names=("vocab.txt",),
    ),
    Conversion(
        system="biovil-t",
        file_names=("biovil_t_image_model_proj_size_128.pt",),
        second_file_names=("pytorch_model.bin",),
        function="evaluation.conversion.biovil:convert_biovil_t",
        pinned={
            "encoder.backbone_to_vit.weight": (256, 2_048, 1, 1),
            "encoder.missing_previous_emb": (1, 256, 1, 1),
            "projector.model.0.weight": (128, 512, 1, 1),
            "cls_projection_head.dense_to_hidden.weight": (128, 768),
        },
        tokenizer_source="microsoft/BiomedVLP-BioViL-T",
        tokenizer_names=("vocab.txt",),
    ),
    Conversion(
        system="medimageinsight",
        file_names=("medimageinsigt-v1.0.0.pt",),
        function="evaluation.conversion.medimageinsight:convert",
        pinned={
            "image_projection": (2_048, 1_024),
            "image_encoder.convs.0.proj.weight": (256, 3, 7, 7),
            "lang_encoder.positional_embedding": (77, 1_024),
        },
        file_format=FileFormat.SAFETENSORS,
        tokenizer_source="lion-ai/MedImageInsights",
    ),
    Conversion(
        system="merlin",
        file_names=("i3_resnet_clinical_longformer_best_clip_04-02-2024_23-21-36_epoch_99.pt",),
        function="evaluation.conversion.merlin:convert",
        pinned={
            "encode_image.i3_resnet.conv1.weight": (64, 3, 3, 7, 7),
            "encode_image.i3_resnet.contrastive_head.weight": (512, 2_048, 1, 1, 1),
            "encode_text.linear_layer.weight": (512, 768),
        },
        tokenizer_source="yikuan8/Clinical-Longformer",
    ),
    Conversion(
        system="astra-ct",
        file_names=("astra_encoder.pt",),
        function="evaluation.conversion.merlin:convert_image_encoder",
        pinned={"conv1.weight": (64, 3, 3, 7, 7), "layer4.2.conv3.weight": (2_048, 512, 1, 1, 1)},
        state_path=("state_dict",),
    ),
)


def find_conversion(system: str) -> Conversion:
    """The conversion of a system.

    Raises:
        ModelUnsupported: there is none; the message names those that there are.
    """
    found = next((conversion for conversion in CONVERSIONS if conversion.system == system), None)
    if found is None:
        known = ", ".join(sorted(conversion.system for conversion in CONVERSIONS))
        raise ModelUnsupported(f"{system!r} has no conversion; choose from {known}.")
    return found
