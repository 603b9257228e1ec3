"""Several processes that train one model: what they tell each other.

Every process embeds its share of a batch and is told the vectors of all. Each then computes the whole loss, so that it
knows the gradients of its own vectors without a message going back, and negatives come from all devices. What is summed
in the end are the parameters' gradients. One process is the same with nothing to tell.
"""

from collections.abc import Iterable

import torch
from accelerate import Accelerator


class Processes:
    """The processes of one training, through accelerate."""

    def __init__(self, accelerator: Accelerator) -> None:
        self._accelerator = accelerator
        self.count = int(accelerator.num_processes)
        self.number = int(accelerator.process_index)
        self.device: torch.device = accelerator.device

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes files and speaks."""
        return self.number == 0

    def gathered(self, rows: torch.Tensor) -> tuple[torch.Tensor, slice]:
        """The rows of all processes one after the other, and where this process's own stand; numbers may differ."""
        if self.count == 1:
            return rows, slice(0, len(rows))
        counts = self._accelerator.gather(torch.tensor([len(rows)], device=self.device)).tolist()
        most = max(counts)
        if not most:
            return rows, slice(0, 0)
        padded = torch.zeros((most, *rows.shape[1:]), dtype=rows.dtype, device=self.device)
        padded[: len(rows)] = rows
        everyone = self._accelerator.gather(padded).split(most)
        whole = torch.cat([part[:count] for part, count in zip(everyone, counts, strict=True)])
        start = sum(counts[: self.number])
        return whole, slice(start, start + len(rows))

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace the gradient of each parameter by its sum over all processes; one message for all of them."""
        trained = list(parameters)
        for parameter in trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.count == 1:
            return
        gradients = [parameter.grad for parameter in trained if parameter.grad is not None]
        flat = torch.cat([gradient.flatten().float() for gradient in gradients])
        flat = self._accelerator.reduce(flat, reduction="sum")
        for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def totals(self, values: Iterable[float]) -> list[float]:
        """Each value summed over all processes."""
        own = torch.tensor(list(values), dtype=torch.float64)
        if self.count == 1:
            return [float(value) for value in own]
        return [float(value) for value in self._accelerator.reduce(own.to(self.device), reduction="sum")]

    def wait(self) -> None:
        """Until every process is here."""
        self._accelerator.wait_for_everyone()
