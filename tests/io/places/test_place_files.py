"""Places from tables, GeoJSON and OpenStreetMap, and as leaves of taxonomies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from shared_data import DATA

from wayveil.errors import InputError
from wayveil.io.formats.osm_places import kind_of_tags
from wayveil.io.places.place_files import read_places
from wayveil.io.places.place_leaves import attach_places, taxonomy_of_places
from wayveil.io.places.place_shapes import shape_of_geojson, shape_of_wkt
from wayveil.io.places.taxonomy_files import read_taxonomy
from wayveil.model import Taxonomy
from wayveil.model.places.places import Places


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str | bytes, name: str = "places.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def edges(tree: Taxonomy) -> dict[str, str]:
    pairs = zip(tree.nodes, tree.parent.tolist(), strict=True)
    return {name: "" if above < 0 else tree.nodes[above] for name, above in pairs}


def test_points_in_metres(file) -> None:
    text = "place,x,y,node,radius_m,min_stay\nb,500, 7,Bar,20,\na,-1e12,0,,,600\n"
    places = read_places(file(text))
    assert (places.name, places.node) == (("b", "a"), ("Bar", ""))
    assert (places.x.tolist(), places.y.tolist()) == ([500.0, -1e12], [7.0, 0.0])
    assert places.radius_m.tolist() == [20.0, 0.0]
    assert np.isnan(places.min_stay[0])
    assert places.min_stay[1] == 600
    assert not places.frame.degrees
    bare = read_places(file("place,x,y\na,1,200\n"))
    assert (bare.node, bare.radius_m.tolist(), np.isnan(bare.min_stay).all()) == (("",), [0.0], True)


def test_points_in_degrees(file) -> None:
    for header, crs in (("place,lon,lat", None), ("place,x,y", "EPSG:4326")):
        places = read_places(file(f"{header}\na,16.0,48.0\nb,16.0,48.1\n"), crs=crs)
        assert places.frame.degrees
        assert 11_000 < abs(np.diff(places.y)[0]) < 11_200
        lon, lat = places.frame.to_file(places.x, places.y)
        assert np.allclose(lon, 16)
        assert np.allclose(lat, [48, 48.1])
    assert not read_places(file("place,lon,lat\na,500000,4\n"), crs="planar").frame.degrees


def test_x_and_y_that_could_be_degrees_are_refused_until_somebody_says_what_they_are(file) -> None:
    path = file("place,x,y,radius_m\nclinic,16.0,48.0,50\nbar,16.0,48.1,50\n")
    with pytest.raises(InputError, match=r"all of them could be degrees.*every place.*--crs degrees.*--crs planar"):
        read_places(path)
    assert read_places(path, crs="degrees").frame.degrees
    assert read_places(path, crs="planar").y.tolist() == [48.0, 48.1]
    assert not read_places(file("place,x,y\na,16.0,48.0\nb,16.0,90.5\n")).frame.degrees


def test_polygons(file) -> None:
    square = "POLYGON ((0 0, 0 600, 600 600, 600 0, 0 0), (1 1, 2 1, 2 2, 1 1))"
    two = (
        "MULTIPOLYGON (((0 0, 300 0, 300 300, 0 300, 0 0)), ((600 0, 600 300, 900 300, 900 0, 600 0), (1 1, 2 2, 3 1)))"
    )
    triangle = "polygon z((900 900 5,930 900 5,900 930 5))"
    text = f'place,geometry\na,"{square}"\np,POINT (1000 2000)\nm,"{two}"\nt,"{triangle}"\n'
    places = read_places(file(text))
    assert places.is_polygon.tolist() == [True, False, True, True]
    assert places.ring_place.tolist() == [0, 2, 2, 3]
    assert np.diff(places.ring_offsets).tolist() == [4, 4, 4, 3]
    assert places.ring_x[:4].tolist() == [0, 0, 600, 600]
    assert np.allclose(places.x, [300, 1000, 450, 910])
    assert np.allclose(places.y, [300, 2000, 150, 910])
    assert not places.frame.degrees
    far = read_places(file('place,geometry\na,"POLYGON ((1e9 1e9, 1000000004 1e9, 1000000004 1000000002, 1e9 1e9))"\n'))
    assert np.allclose([far.x[0] - 1e9, far.y[0] - 1e9], [8 / 3, 2 / 3], atol=1e-5)
    # A corner more on one side moves the mean of the corners, but not the centroid; the border runs clockwise.
    extra = read_places(file('place,geometry\na,"POLYGON ((0 0, 0 300, 0 600, 600 600, 600 0, 0 0))"\n'))
    assert np.allclose([extra.x[0], extra.y[0]], 300)
    flat = read_places(file('place,geometry\na,"POLYGON ((0 0, 500 0, 1000 0, 0 0))"\n'))
    assert (flat.x.tolist(), flat.y.tolist()) == ([500.0], [0.0])


def test_polygons_that_could_be_degrees_are(file) -> None:
    text = 'place,wkt\na,"POLYGON ((16 48, 16.2 48, 16.2 48.2, 16 48.2))"\n'
    places = read_places(file(text))
    lon, lat = places.frame.to_file(places.x, places.y)
    assert (round(lon[0], 9), round(lat[0], 9)) == (16.1, 48.1)
    assert not read_places(file(text), crs="planar").frame.degrees


@pytest.mark.parametrize(
    "text",
    [
        "POLYGON ((0 0, 1 1))",
        "POLYGON ((0 0, 1 1, 0 0))",
        "POLYGON ((0 0, 1 1, 1 1, 0 0))",
        "POLYGON ((0 0, 1 1, 2 nan))",
        "POLYGON (0 0, 1 1, 2 0)",
        "POLYGON ((0 0, 1 1, 2 0)",
        "POLYGON ((0 0, 1 1, 2 0), 3 3)",
        "MULTIPOLYGON ((0 0, 1 1, 2 0))",
        "MULTIPOLYGON (((0 0, 1 1, 2 0)), ((0 0, 1 1)))",
        "POINT (1)",
        "POINT (1 2 3 4 5)",
        "POINT (1 2, 3 4)",
        "POINT (a b)",
        "POINT EMPTY",
        "LINESTRING (0 0, 1 1)",
        None,
    ],
)
def test_text_that_is_no_shape(text: str | None) -> None:
    assert shape_of_wkt(text) is None


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        {"type": "Point", "coordinates": [1]},
        {"type": "Point", "coordinates": [1, True]},
        {"type": "Point", "coordinates": ["x", 2]},
        {"type": "LineString", "coordinates": [[0, 0], [1, 1]]},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "Polygon", "coordinates": [3]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]},
        {"type": "MultiPolygon", "coordinates": [[]]},
        {"type": "MultiPolygon", "coordinates": 3},
        {"type": "MultiPolygon", "coordinates": []},
    ],
)
def test_objects_that_are_no_shape(geometry: object) -> None:
    assert shape_of_geojson(geometry) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,x,y\na,1,2\n", "need the column 'place', their name; the file has 'name', 'x', 'y'"),
        ("place,x\na,1\n", "need the columns x and y, or lon and lat, or geometry"),
        ("place,x,y\n", "there are no places"),
        ("place,x,y\na,1,2\na,3,4\n", "a place has the name of another place in 1 row, at line 3"),
        ("place,x,y\n,1,2\n", "column 'place' is empty"),
        ("place,x,y\na,1,far\n", "column 'y' is not a finite number in 1 row, at line 2"),
        ("place,x,y\na,1,inf\n", "column 'y' is not a finite number"),
        ("place,x,y\na,1,\n", "column 'y' is empty"),
        ("place,x,y\na,1,1e14\n", "coordinates are not metres below"),
        ("place,lon,lat\na,1,91\n", "coordinates are not longitudes"),
        ("place,geometry\na,LINESTRING (0 0)\n", "column 'geometry' is no POINT, POLYGON or MULTIPOLYGON"),
        ("place,geometry\na,\n", "column 'geometry' is empty"),
        ("place,x,y,radius_m\na,1,2,-3\n", "column 'radius_m' is not a number >= 0"),
        ("place,x,y,min_stay\na,1,2,10min\n", "column 'min_stay' is not a number >= 0"),
        ('place,geometry\na,"POLYGON ((0 0, 1e14 0, 0 1e14))"\n', "coordinates are not metres below"),
    ],
)
def test_tables_that_are_no_places(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_places(file(text))


def collection(*features: tuple[dict, dict | None], **more: object) -> str:
    listed = [{"type": "Feature", "geometry": g, "properties": p} for g, p in features]
    return json.dumps({"type": "FeatureCollection", "features": listed, **more})


POINT = {"type": "Point", "coordinates": [16.3, 48.2, 170]}
SQUARE = {"type": "Polygon", "coordinates": [[[16, 48], [16.2, 48], [16.2, 48.2], [16, 48.2], [16, 48]]]}


def test_geojson(file) -> None:
    text = collection((POINT, {"name": "a", "node": "Bar", "radius_m": 5}), (SQUARE, {"place": "b", "name": "x"}))
    places = read_places(file(text, "places.geojson"))
    assert (places.name, places.node) == (("a", "b"), ("Bar", ""))
    assert places.radius_m.tolist() == [5, 0]
    assert places.is_polygon.tolist() == [False, True]
    lon, lat = places.frame.to_file(places.x, places.y)
    assert np.allclose(lon, [16.3, 16.1])
    assert np.allclose(lat, [48.2, 48.1])
    metres = {"type": "Point", "coordinates": [500000, 7]}
    crs = {"type": "name", "properties": {"name": "planar"}}
    assert read_places(file(collection((metres, {"name": "a"}), crs=crs), "p.geojson")).x.tolist() == [500000]
    assert read_places(file(collection((metres, {"name": "a"})), "p.geojson"), crs="planar").x.tolist() == [500000]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (collection((POINT, {"name": "a"}), (POINT, None)), "column 'place' is empty in 1 row, at feature 2"),
        (collection(({"type": "Point"}, {}), (POINT, {"name": "a"})), "1 feature that is no point .* at feature 1"),
        (collection(({"type": "Point", "coordinates": [200, 91]}, {"name": "a"})), "are not longitudes"),
        (collection(), "there are no places"),
        ("{", "not valid JSON"),
    ],
)
def test_geojson_that_is_no_places(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_places(file(text, "places.geojson"))


def test_other_files(tmp_path: Path, file) -> None:
    with pytest.raises(InputError, match="told by the suffix"):
        read_places(file("x", "places.gpx"))
    for name in ("none.csv", "none.geojson", "none.osm"):
        with pytest.raises(InputError, match="no such file"):
            read_places(tmp_path / name)


def osm(*objects: str) -> str:
    corners = [(1, 0, 0), (2, 0, 2), (3, 2, 2), (4, 2, 0)]
    nodes = "".join(f'<node id="{i}" version="1" lat="{48 + y / 100}" lon="{16 + x / 100}"/>' for i, x, y in corners)
    return f'<?xml version="1.0"?><osm version="0.6">{nodes}{"".join(objects)}</osm>'


def node(number: int, **tags: str) -> str:
    said = "".join(f'<tag k="{k}" v="{v}"/>' for k, v in tags.items())
    return f'<node id="{number}" version="1" lat="48.005" lon="16.005">{said}</node>'


def way(number: int, refs: list[int], **tags: str) -> str:
    said = "".join(f'<tag k="{k}" v="{v}"/>' for k, v in tags.items())
    return f'<way id="{number}" version="1">{"".join(f"<nd ref={chr(34)}{i}{chr(34)}/>" for i in refs)}{said}</way>'


def test_openstreetmap(file) -> None:
    pytest.importorskip("osmium")
    text = osm(
        node(11, amenity="pharmacy", shop="chemist"),
        node(12, railway="station"),
        node(13, railway="signal"),
        node(14, highway="crossing"),
        way(7, [1, 2, 3, 4, 1], leisure="park"),
        way(8, [1, 2, 3, 4], shop="toys"),
        way(9, [1, 2, 3, 99, 1], shop="toys"),
        way(10, [1, 2, 3, 1], building="yes"),
    )
    places = read_places(file(text, "town.osm"))
    assert places.name == ("amenity/pharmacy/n11", "railway/station/n12", "leisure/park/w7")
    assert places.node == ("amenity/pharmacy", "railway/station", "leisure/park")
    assert places.is_polygon.tolist() == [False, False, True]
    lon, lat = places.frame.to_file(places.x, places.y)
    assert np.allclose(lon, [16.005, 16.005, 16.01])
    assert np.allclose(lat, [48.005, 48.005, 48.01])
    assert places.frame.crs == "EPSG:4326"


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "the file is empty"), ("hello", "not an OpenStreetMap extract"), (osm(), "the extract has no places")],
)
def test_bad_extracts(file, text: str, words: str) -> None:
    pytest.importorskip("osmium")
    with pytest.raises(InputError, match=words):
        read_places(file(text, "town.osm"))


def test_kinds_from_tags() -> None:
    assert kind_of_tags({"office": "lawyer", "healthcare": "doctor"}) == "healthcare/doctor"
    assert kind_of_tags({"amenity": "no", "shop": "a/b"}) == "shop/a_b"
    assert kind_of_tags({"amenity": ";x"}) == ""
    assert kind_of_tags({"public_transport": "station"}) == "public_transport/station"


def named(*pairs: tuple[str, str]) -> Places:
    zero = np.zeros(len(pairs))
    return Places(
        name=tuple(a for a, _ in pairs), node=tuple(b for _, b in pairs), x=zero, y=zero, radius_m=zero, min_stay=zero
    )


TREE = Taxonomy.from_parents(
    [("Place", ""), ("shop", "Place"), ("shop/toys", "shop"), ("Zoo", "Place"), ("ill", "Place")], sensitive=["ill"]
)


def test_places_become_leaves() -> None:
    found = attach_places(TREE, named(("n1", "shop/toys/trains"), ("Zoo", ""), ("n2", "shop/sex"), ("n3", "ill")))
    assert edges(found) == edges(TREE) | {"n1": "shop/toys", "n2": "shop", "n3": "ill"}
    sensitive = [name for name, said in zip(found.nodes, found.sensitive.tolist(), strict=True) if said]
    assert sensitive == ["ill", "n3"]


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (named(("n1", ""), ("Zoo", "")), "1 place of 2 is not in the taxonomy and has no node"),
        (named(("n1", "sop/x"), ("n2", "q")), "2 kinds of places are not in the taxonomy, first 'sop/x'"),
        (named(("n1", "shp")), "Did you mean 'shop'"),
        (named(("shop", "")), "1 place, first 'shop', has the name of a kind of places"),
        (named(("Zoo", ""), ("n1", "Zoo")), "1 place, first 'Zoo', has the name of a kind"),
    ],
)
def test_places_that_fit_nowhere(places: Places, words: str) -> None:
    with pytest.raises(InputError, match=words):
        attach_places(TREE, places)


def test_a_taxonomy_of_places_alone() -> None:
    places = named(("n1", "shop/toys"), ("n2", "shop/toys"), ("n3", "office/x"), ("n4", ""))
    tree = taxonomy_of_places(places, ["shop"])
    assert edges(tree) == {
        "Place": "", "n4": "Place", "office": "Place", "office/x": "office", "n3": "office/x",
        "shop": "Place", "shop/toys": "shop", "n1": "shop/toys", "n2": "shop/toys",
    }  # fmt: skip
    assert {tree.nodes[i] for i in np.flatnonzero(tree.sensitive)} == {"shop", "shop/toys", "n1", "n2"}
    assert edges(taxonomy_of_places(named(("a", "")))) == {"Place": "", "a": "Place"}
    with pytest.raises(InputError, match="no node 'shp' to label"):
        taxonomy_of_places(places, ["shp"])
    with pytest.raises(InputError, match="There are no places"):
        taxonomy_of_places(named())


@pytest.mark.skipif(not (DATA / "osm_extracts").exists(), reason="the data are not here")
def test_a_real_extract() -> None:
    pytest.importorskip("osmium")
    places = read_places(DATA / "osm_extracts" / "srai_monaco.osm.pbf")
    assert len(places) > 1000
    assert places.is_polygon.sum() > 100
    tree = read_taxonomy(DATA / "taxonomies" / "osm_id_tagging_presets.json.gz", sensitive_nodes=["healthcare"])
    found = attach_places(tree, places)
    assert len(found) == len(tree) + len(places)
    assert found.is_leaf[[found.nodes.index(name) for name in places.name[:20]]].all()
