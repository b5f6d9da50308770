"""Model -> MethodResult: one file per method."""

from wayveil.methods.cast.cast import Cast
from wayveil.methods.cba.cba import Cba
from wayveil.methods.counts.counts import Counts
from wayveil.methods.dp_counts.dp_counts import DpCounts
from wayveil.methods.gsup.gsup import Gsup
from wayveil.methods.icba.icba import Icba
from wayveil.methods.kcl.kcl import Kcl
from wayveil.methods.knode.knode import Knode
from wayveil.methods.nwa.nwa import Nwa
from wayveil.methods.prefix.prefix import Prefix
from wayveil.methods.qid.qid import Qid
from wayveil.methods.synth.synth import Synth
from wayveil.methods.tga.tga import Tga
from wayveil.methods.w4m.w4m import W4m
from wayveil.model import Method

__all__ = [
    "METHODS",
    "Cast",
    "Cba",
    "Counts",
    "DpCounts",
    "Gsup",
    "Icba",
    "Kcl",
    "Knode",
    "Nwa",
    "Prefix",
    "Qid",
    "Synth",
    "Tga",
    "W4m",
]

METHODS: dict[str, type[Method]] = {
    Kcl.name: Kcl,
    Nwa.name: Nwa,
    W4m.name: W4m,
    Knode.name: Knode,
    Tga.name: Tga,
    Qid.name: Qid,
    Gsup.name: Gsup,
    Icba.name: Icba,
    Cba.name: Cba,
    Prefix.name: Prefix,
    Cast.name: Cast,
    Counts.name: Counts,
    Synth.name: Synth,
    DpCounts.name: DpCounts,
}
