"""What a run needs of an image model, whatever its family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from gpu_eval.cache import Cached
from gpu_eval.eagle import Eagle
from gpu_eval.head import Head
from gpu_eval.network import ImageModel, Network
from gpu_eval.processing import Processing
from gpu_eval.prompts import Prompt
from specsim.errors import SpecsimError

Build = Callable[[Sequence[Prompt], bool], Network]
"""(prompts, guided) -> a network with a row for each prompt, and with guidance as many unconditional ones after."""


@dataclass(frozen=True)
class Loaded:
    """A loaded model.

    prompts: "label" or "text", the kind it reads; network: see `Build`; length: tokens of an image; grid: (rows,
    columns) of them; codebook [V, latent] for rules that look at near codes, None if it has none; paint: tokens [B,
    length] to images [B, channels, H, W] in [0, 1].
    """

    name: str
    prompts: str
    network: Build
    grid: tuple[int, int]
    codebook: Tensor | None
    paint: Callable[[Tensor], Tensor]

    @property
    def length(self) -> int:
        return self.grid[0] * self.grid[1]

    def model(
        self,
        prompts: Sequence[Prompt],
        processing: Processing,
        cached: bool = True,
        ahead: int | None = None,
        checked: bool = True,
    ) -> ImageModel | Cached:
        """The model of rows with these prompts; ahead: see `Cached`; checked: see `ImageModel`."""
        self.require_kind(prompts)
        model = ImageModel(self.network(prompts, processing.guided), processing, self.codebook, checked)
        return Cached(model, ahead) if cached else model

    def beside(self, target: Cached, prompts: Sequence[Prompt], processing: Processing, ahead: int | None) -> Any:
        """As the draft of a target."""
        return self.model(prompts, processing, ahead=ahead, checked=False)

    def require_kind(self, prompts: Sequence[Prompt]) -> None:
        """Labels for a model of labels, texts for one of texts."""
        for number, prompt in enumerate(prompts):
            if getattr(prompt, self.prompts) is None:
                other = "text" if self.prompts == "label" else "label"
                raise SpecsimError(
                    f"prompt {number + 1} from {prompt.source} is a {other}; {self.name} reads a {self.prompts}"
                )


@dataclass(frozen=True)
class Headed:
    """A draft made of a trained head: it reads prompts, tokens and features through its target."""

    name: str
    head: Head

    def beside(self, target: Cached, prompts: Sequence[Prompt], processing: Processing, ahead: int | None) -> Any:
        """As the draft of a target."""
        return Eagle(self.head, target)


@dataclass(frozen=True)
class Pair:
    """A target and, for decoders that draft from a model, a draft of the same tokens that reads the same prompts."""

    target: Loaded
    draft: Loaded | Headed | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.draft, Loaded):
            return
        for name in ("prompts", "grid"):
            ours, theirs = getattr(self.target, name), getattr(self.draft, name)
            if ours != theirs:
                raise SpecsimError(
                    f"draft {self.draft.name}: {name} = {theirs!r}, target {self.target.name} has {ours!r}; "
                    "a draft must read the same prompts and write the same tokens"
                )

    def drafting(self) -> Loaded | Headed:
        """The draft, or an error that says how to give one."""
        if self.draft is None:
            raise SpecsimError(
                f"{self.target.name} has no draft model here, and the decoder needs one: give --draft-weights DIR"
            )
        return self.draft
