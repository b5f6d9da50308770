from wayveil.model import Chart, Points, RoadNetwork, Routes, Score, Series, Visits
from wayveil.report.suppression import MIN_PEOPLE, suppress_small_counts


def chart(labels, values, lines=(), x_label="place"):
    series = (Series(name="original", values=values), Series(name="published", values=(0,) * len(values)))
    return Chart(title="c", kind="bars", labels=labels, series=series, lines=lines, x_label=x_label)


def only(made, data):
    score = Score(name="s", meaning="m", value=0, better="lower", unit="share", charts=(made,))
    return suppress_small_counts([score], data)[0].charts


def test_charts_of_losses_name_nothing_that_few_people_did():
    data = Visits.from_records([[("market", 1)]] * MIN_PEOPLE + [[("cave of the hermit", 1)]] * (MIN_PEOPLE - 1))
    labels = ("cave of the hermit", "market", "market @ 1", "cave of… @ 1 → market @ 2", "market → market")
    (kept,) = only(chart(labels, (9, 9, 9, 9, 4), lines=tuple((i, i, i, i) for i in range(5))), data)
    assert kept.labels == ("market", "market @ 1")
    assert kept.series[0].values == (9, 9)
    assert kept.lines == ((1, 1, 1, 1), (2, 2, 2, 2))
    assert kept.x_label == f"place; 3 of fewer than {MIN_PEOPLE} people left out"
    assert only(chart(("cave of the hermit",), (9,)), data) == ()
    whole = chart(("market",), (1,))
    assert only(whole, data) == (whole,)
    network = RoadNetwork.from_roads([("3", "a", "b"), ("4", "b", "c")])
    routes = Routes.from_records([["3"]] + [["4"]] * MIN_PEOPLE, network=network)
    assert only(chart(("3", "4"), (1, 9)), routes)[0].labels == ("4",)
    assert only(chart(("3", "4"), (1, 9), x_label="number of visits"), routes)[0].labels == ("3", "4")
    flows = chart(("(1, 2) → (3, 4)", "(1, 2) → (1, 2)"), (4.0, 5.0))
    assert only(flows, Points.from_records([[]]))[0].labels == ("(1, 2) → (1, 2)",)


def test_trips_of_one_person_are_not_several_people():
    trips = [[(0, 1.0, 2.0)]] * 6
    flows = chart(("(1, 2) → (3, 4)", "(1, 2) → (1, 2)"), (12.0, 13.0))
    assert only(flows, Points.from_records(trips, owner=[1, 1, 1, 2, 2, 3]))[0].labels == ("(1, 2) → (1, 2)",)
    assert only(flows, Points.from_records(trips))[0].labels == flows.labels
