"""The estimators of models, each made better by what its servers counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .gauge import Measured

if TYPE_CHECKING:
    from .tokens_hybrid import HybridEstimator


class Calibration:
    """An estimator for each model that somebody asks about.

    Until then only the latest measurement of a model is kept: our own extension counts by itself,
    and what nobody asks for needn't be reckoned.
    """

    def __init__(self) -> None:
        self._estimators: dict[str, HybridEstimator] = {}
        self._waiting: dict[str, Measured] = {}

    def learn(self, model: str, measured: Measured) -> None:
        """Take a measurement."""
        estimator = self._estimators.get(model)
        if estimator is None:
            self._waiting[model] = measured
        else:
            estimator.learn(measured.messages, measured.tokens, measured.tools)

    def estimator(self, model: str, family: str) -> HybridEstimator:
        """Return the estimator of a model."""
        from .tokens_hybrid import HybridEstimator  # here, because its table is slow to load

        estimator = self._estimators.get(model)
        if estimator is None:
            estimator = self._estimators[model] = HybridEstimator(family)
            measured = self._waiting.pop(model, None)
            if measured is not None:
                self.learn(model, measured)
        return estimator
