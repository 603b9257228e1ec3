"""LoRA and DoRA on a network: which modules are adapted, and how."""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from peft import LoraConfig, get_peft_model

from evaluation.errors import TrainingRefused

LANGUAGE_MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """Low-rank adaptation (Hu et al. 2021), or with `dora` its weight-decomposed form (Liu et al. 2024).

    The update of a weight is `alpha / rank` times the product of two matrices of this rank. `modules` are the ends of
    the names of the linear layers that are adapted.
    """

    rank: int = 32
    alpha: int = 32
    dropout: float = 0.05
    dora: bool = False
    modules: tuple[str, ...] = LANGUAGE_MODULES

    def described(self) -> dict[str, Any]:
        """As JSON values, for cards and hashes."""
        return {**asdict(self), "modules": list(self.modules)}


def add_adapter(network: torch.nn.Module, settings: AdapterSettings, *, seed: int) -> Any:
    """Put adapters beside the chosen layers of `network`, in place; from then on they alone are trained.

    Returns peft's wrapper around the same network. Adapters are float32 whatever the network is.

    Raises:
        TrainingRefused: no layer has a name with one of the ends.
    """
    names = [name for name, module in network.named_modules() if isinstance(module, torch.nn.Linear)]
    unmatched = [end for end in settings.modules if not any(name.split(".")[-1] == end for name in names)]
    if unmatched:
        raise TrainingRefused(f"The network has no linear layer {unmatched[0]!r}; name layers that it has.")
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        use_dora=settings.dora,
        target_modules=list(settings.modules),
        task_type="FEATURE_EXTRACTION",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return get_peft_model(network, config)
