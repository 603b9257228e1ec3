"""InfoNCE over a batch of pairs, with false negatives masked and explicit hard negatives."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class LossSettings:
    """What the loss compares.

    Attributes:
        temperature: cosines are divided by it.
        mask_equivalent: candidates that are clinically equivalent to the positive are no negatives.
        margin: candidates that score higher than the positive by more than this are no negatives either, being more
            likely unmarked positives (as in Qwen3-Embedding's report, 2025, with 0.1); None asks for no such thing.
        symmetric: the mean with the loss of the other direction, from positive to query (as CLIP, Radford et al. 2021).
    """

    temperature: float = 0.02
    mask_equivalent: bool = True
    margin: float | None = None
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class BatchLoss:
    """The loss of a batch, and what was seen of its negatives.

    `masked` is the share of candidates, own positives apart, that were left out; `hardest` the mean over queries of the
    largest cosine of a negative minus the positive's: near 0 negatives are hard, far below they teach nothing.
    """

    value: torch.Tensor
    masked: float
    hardest: float


def contrastive_loss(
    queries: torch.Tensor, candidates: torch.Tensor, same: torch.Tensor, settings: LossSettings
) -> BatchLoss:
    """The mean over queries of -log(exp(s_ii / t) / sum_j exp(s_ij / t)), van den Oord et al. 2018.

    Args:
        queries: rows of unit length, (n, dimension), float32.
        candidates: rows of unit length, (n + hard negatives, dimension); row i < n is the positive of query i.
        same: which candidates are equivalent to each query's positive, (n, n + hard negatives), its own False.
        settings: temperature and masks.
    """
    count = len(queries)
    cosines = queries @ candidates.T
    masked = _masked(cosines, same, settings)
    value = _one_direction(cosines, masked, settings.temperature)
    if settings.symmetric:
        back = cosines[:, :count].T
        value = (value + _one_direction(back, _masked(back, same[:, :count].T, settings), settings.temperature)) / 2
    return BatchLoss(value, _share(masked), _hardest(cosines.detach(), masked))


def equivalent_pairs_loss(
    queries: torch.Tensor, candidates: torch.Tensor, same: torch.Tensor, *, temperature: float
) -> torch.Tensor:
    """How far equivalent candidates are from being found: the mean of -log(e_ij / (e_ij + sum over negatives of e_ik)).

    The mean is over all (i, j) of `same`, with e_ij = exp(s_ij / temperature); negatives of i are the candidates that
    are neither its positive nor equivalent to it. Shapes as in `contrastive_loss`; 0 where nothing is equivalent.
    """
    scaled = queries @ candidates.T / temperature
    own = torch.eye(len(queries), len(candidates), dtype=torch.bool)
    against = scaled.masked_fill(same | own, -torch.inf).logsumexp(dim=1, keepdim=True)
    costs = torch.logaddexp(scaled, against) - scaled
    return costs[same].mean() if same.any() else scaled.new_zeros(())


def _masked(cosines: torch.Tensor, same: torch.Tensor, settings: LossSettings) -> torch.Tensor:
    masked = same.clone() if settings.mask_equivalent else torch.zeros_like(same)
    if settings.margin is not None:
        found = cosines.detach()
        masked |= found > found.diagonal()[:, None] + settings.margin
    masked.fill_diagonal_(False)
    return masked


def _one_direction(cosines: torch.Tensor, masked: torch.Tensor, temperature: float) -> torch.Tensor:
    logits = (cosines / temperature).masked_fill(masked, -torch.inf)
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def _share(masked: torch.Tensor) -> float:
    others = masked.numel() - len(masked)
    return float(masked.sum()) / others if others else 0.0


def _hardest(cosines: torch.Tensor, masked: torch.Tensor) -> float:
    own = torch.zeros_like(masked).fill_diagonal_(True)
    largest = cosines.masked_fill(masked | own, -torch.inf).amax(dim=1)
    gaps = (largest - cosines.diagonal())[largest.isfinite()]
    return float(gaps.mean()) if len(gaps) else -1.0
