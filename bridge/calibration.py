"""The estimators of models, each made better by what its servers counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .gauge import Measured

if TYPE_CHECKING:
    from .tokens_hybrid import HybridEstimator


MOST_MODELS = 100
"""Models of which something is kept, those that were used last."""
MOST_WAITING = 8
"""Models of which a measurement is kept that nobody has asked for."""


class Calibration:
    """An estimator for each model that somebody asks about.

    Until then only the latest measurement of a model is kept: our own extension counts by itself,
    and what nobody asks for needn't be reckoned.
    """

    def __init__(self) -> None:
        self._estimators: dict[str, HybridEstimator] = {}
        """The one that was asked for last comes last."""
        self._waiting: dict[str, Measured] = {}
        """The newest comes last."""

    def learn(self, model: str, measured: Measured) -> None:
        """Take a measurement."""
        estimator = self._estimators.get(model)
        if estimator is None:
            self._keep(model, measured)
        else:
            estimator.learn(measured.messages, measured.tokens, measured.tools)

    def estimator(self, model: str, family: str) -> HybridEstimator:
        """Return the estimator of a model."""
        from .tokens_hybrid import HybridEstimator  # here, because its table is slow to load

        estimator = self._estimators.pop(model, None)
        measured = self._waiting.pop(model, None)
        self._estimators[model] = estimator = estimator or HybridEstimator(family)
        if measured is not None:
            self.learn(model, measured)
        if len(self._estimators) > MOST_MODELS:
            del self._estimators[next(iter(self._estimators))]
        return estimator

    def _keep(self, model: str, measured: Measured) -> None:
        """Keep a measurement until somebody asks for the model."""
        self._waiting.pop(model, None)
        self._waiting[model] = measured
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
