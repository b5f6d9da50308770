"""Model -> Published: one file per method."""

from wayveil.methods.gsup import Gsup
from wayveil.methods.kcl import Kcl
from wayveil.methods.knode import Knode
from wayveil.methods.nwa import Nwa
from wayveil.methods.qid import Qid
from wayveil.methods.tga import Tga
from wayveil.methods.w4m import W4m
from wayveil.model import Method

__all__ = ["METHODS", "Gsup", "Kcl", "Knode", "Nwa", "Qid", "Tga", "W4m"]

METHODS: dict[str, type[Method]] = {
    Kcl.name: Kcl,
    Nwa.name: Nwa,
    W4m.name: W4m,
    Knode.name: Knode,
    Tga.name: Tga,
    Qid.name: Qid,
    Gsup.name: Gsup,
}
