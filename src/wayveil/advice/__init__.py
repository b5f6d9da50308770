"""Advice: which preparation, method and parameters leave most of a file at a risk that is accepted."""

from wayveil.advice.advise import advise
from wayveil.advice.recommendation import Advice
from wayveil.yardstick.fair_loss import USES

__all__ = ["USES", "Advice", "advise"]
