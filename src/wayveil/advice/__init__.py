"""Advice: which preparation, method and parameters leave most of a file at a risk that is accepted."""

from wayveil.advice.advise import advise
from wayveil.advice.fair_loss import USES
from wayveil.advice.recommendation import Advice

__all__ = ["USES", "Advice", "advise"]
