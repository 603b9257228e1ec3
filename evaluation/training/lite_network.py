"""What is trained of lite-dual: a linear map for images and one for texts, as changes from where they start."""

import numpy as np
import torch

from evaluation.embedders.lite_dual import LinearProjection
from evaluation.embedders.lite_towers import IMAGE_FEATURES, TEXT_FEATURES
from evaluation.training.features import FeatureTable, images_of
from evaluation.training.records import TrainingRecord
from evaluation.types import FloatMatrix

_RIDGE = 1.0
_SMALLEST_SPREAD = 1e-6


class Projections(torch.nn.Module):
    """Both maps; image features are standardised by the training records' first.

    The text map starts as the identity, because the text tower's space already orders texts well, and the image map as
    a ridge regression to the texts that images are paired with. Weight decay on the changes holds both near there.
    """

    def __init__(
        self, mean: torch.Tensor, scale: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, dropout: float
    ) -> None:
        """`mean` and `scale` standardise image features; `weight` (384, 1280) and `bias` (384,) are the image map's start."""
        super().__init__()
        self.mean, self.scale = torch.nn.Buffer(mean), torch.nn.Buffer(scale)
        self.image_start, self.image_bias_start = torch.nn.Buffer(weight), torch.nn.Buffer(bias)
        self.text_start = torch.nn.Buffer(torch.eye(TEXT_FEATURES))
        self.image_change = torch.nn.Parameter(torch.zeros(TEXT_FEATURES, IMAGE_FEATURES))
        self.image_bias_change = torch.nn.Parameter(torch.zeros(TEXT_FEATURES))
        self.text_change = torch.nn.Parameter(torch.zeros(TEXT_FEATURES, TEXT_FEATURES))
        self.text_bias_change = torch.nn.Parameter(torch.zeros(TEXT_FEATURES))
        self._dropout = torch.nn.Dropout(dropout)

    def images(self, features: torch.Tensor) -> torch.Tensor:
        """Unit rows of image features, (n, 1280) to (n, 384)."""
        standard = self._dropout((features - self.mean) * self.scale)
        weight, bias = self.image_start + self.image_change, self.image_bias_start + self.image_bias_change
        return torch.nn.functional.normalize(torch.nn.functional.linear(standard, weight, bias), dim=1)

    def texts(self, features: torch.Tensor) -> torch.Tensor:
        """Unit rows of text features, (n, 384) to (n, 384)."""
        mapped = torch.nn.functional.linear(features, self.text_start + self.text_change, self.text_bias_change)
        return torch.nn.functional.normalize(mapped, dim=1)

    @torch.no_grad()
    def exported(self) -> tuple[LinearProjection, LinearProjection]:
        """Both maps on raw features: the standardisation is folded into the image map."""
        weight = (self.image_start + self.image_change) * self.scale
        bias = self.image_bias_start + self.image_bias_change - weight @ self.mean
        text = self.text_start + self.text_change
        return _projection(weight, bias), _projection(text, self.text_bias_change)


def ridge_projections(table: FeatureTable, records: list[TrainingRecord], *, dropout: float) -> Projections:
    """Maps that start from the records: ridge regression of each image to the mean of its texts, in closed form."""
    mean, scale = _standardising(table.image_rows)
    standard = (table.image_rows - mean) * scale
    weight, bias = _ridge(standard.astype(np.float64), table, records)
    return Projections(*map(_tensor, (mean, scale, weight, bias)), dropout=dropout)


def random_projections(table: FeatureTable, *, dropout: float, seed: int) -> Projections:
    """Maps that know nothing of the pairs: the image map is drawn, the text map is the identity."""
    mean, scale = _standardising(table.image_rows)
    drawn = np.random.default_rng(seed).standard_normal((TEXT_FEATURES, IMAGE_FEATURES)) / np.sqrt(IMAGE_FEATURES)
    return Projections(*map(_tensor, (mean, scale, drawn, np.zeros(TEXT_FEATURES))), dropout=dropout)


def _standardising(rows: FloatMatrix) -> tuple[np.ndarray, np.ndarray]:
    if not len(rows):
        return np.zeros(IMAGE_FEATURES), np.ones(IMAGE_FEATURES)
    return rows.mean(axis=0), 1.0 / np.maximum(rows.std(axis=0), _SMALLEST_SPREAD)


def _ridge(standard: np.ndarray, table: FeatureTable, records: list[TrainingRecord]) -> tuple[np.ndarray, np.ndarray]:
    totals, counts = np.zeros((len(standard), TEXT_FEATURES)), np.zeros(len(standard))
    for record in records:
        for one, other in ((record.query, record.positive), (record.positive, record.query)):
            if one.images and other.text:
                row = table.images[images_of(one)]
                totals[row] += table.text_rows[table.texts[other.text]]
                counts[row] += 1
    paired = counts > 0
    if not paired.any():
        return np.zeros((TEXT_FEATURES, IMAGE_FEATURES)), np.zeros(TEXT_FEATURES)
    x, y = standard[paired], totals[paired] / counts[paired][:, None]
    centre = y.mean(axis=0)
    gram = x.T @ x + _RIDGE * len(x) * np.eye(IMAGE_FEATURES)
    return np.linalg.solve(gram, x.T @ (y - centre)).T, centre


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def _projection(weight: torch.Tensor, bias: torch.Tensor) -> LinearProjection:
    return LinearProjection(weight.cpu().numpy().copy(), bias.cpu().numpy().copy())
