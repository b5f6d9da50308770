"""Historical k-anonymity against a restatement of its definition with the calendar of the standard library."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from wayveil.attacks.habits import lbqid_witnesses
from wayveil.attacks.habits.lbqid import Lbqid, user_table
from wayveil.attacks.habits.lbqid_pattern import parse_pattern, parse_recurrence
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes, Frame, Points

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "lbqid" / "commuters.json").read_text())
SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def attack(truth, target, **parameters):
    rng = np.random.default_rng(1)
    return Lbqid(**parameters).run(truth, target, sensitive={}, rng=rng, engine=LocalEngine(workers=1))


def seconds(text, zone="UTC"):
    return int((datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)) - EPOCH).total_seconds())


# The definition: every choice of samples, every granule with the calendar, every other person, one by one.


def granule(day, kind):
    if kind == "day":
        return day
    if kind == "weekday":
        return day if day.weekday() < 5 else None
    if kind == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1)


def containing(inner, kind, above):
    days = [inner + timedelta(days=i) for i in range(7 if kind == "week" else 1)]
    found = {granule(day, above) for day in days}
    return found.pop() if len(found) == 1 else None


def oracle_rows(samples, elements, levels, zone):
    """Return the samples (t, x, y, row) with which one person follows the habit."""

    def local(t):
        return datetime.fromtimestamp(t, ZoneInfo(zone))

    def meets(sample, element):
        wall = local(sample[0])
        seconds_of_day = wall.hour * 3600 + wall.minute * 60 + wall.second
        (x1, y1, x2, y2), start, end = element
        return x1 <= sample[1] <= x2 and y1 <= sample[2] <= y2 and start <= seconds_of_day <= end

    by_granule = {}
    for sample in sorted(samples, key=lambda s: (s[0], s[3])):
        key = granule(local(sample[0]).date(), levels[0][1])
        if key is not None:
            by_granule.setdefault(key, []).append(sample)
    chosen = {}
    for key, listed in by_granule.items():
        for choice in combinations(listed, len(elements)):
            if all(meets(s, e) for s, e in zip(choice, elements, strict=True)):
                chosen[key] = choice
                break
    alive = {key: [key] for key in chosen}  # a granule that counts: the innermost ones in it
    for depth, (n, kind) in enumerate(levels):
        if depth + 1 == len(levels):
            alive = alive if len(alive) >= n else {}
            break
        groups = {}
        for key in alive:
            groups.setdefault(containing(key, kind, levels[depth + 1][1]), []).append(key)
        alive = {
            above: [inner for key in keys for inner in alive[key]]
            for above, keys in groups.items()
            if above is not None and len(keys) >= n
        }
    return [sample for keys in alive.values() for key in keys for sample in chosen[key]]


def oracle(truth, target, elements, levels, zone, k):
    """Return owner: (matched, samples, requests, witnesses, holds)."""
    people, row = {}, 0
    for i in range(len(truth)):
        owner = int(truth.owner[i]) if truth.owners == "given" else i
        for t, x, y in truth.record(i):
            people.setdefault(owner, []).append((t, x, y, row, i))
            row += 1
    found = {}
    for owner, samples in people.items():
        rows = oracle_rows(samples, elements, levels, zone)
        boxes = []
        for t, x, y, _, i in rows:
            here = target.record(i)
            if isinstance(target, Points):
                here = [(a, a, b, b, c, c) for a, b, c in here]
            here = [box for box in here if box[0] <= t <= box[1]]
            around = [box for box in here if box[2] <= x <= box[3] and box[4] <= y <= box[5]]
            boxes += (around or here)[:1]
        others = [
            all(
                any(b[0] <= t <= b[1] and b[2] <= x <= b[3] and b[4] <= y <= b[5] for t, x, y, *_ in theirs)
                for b in boxes
            )
            for other, theirs in people.items()
            if other != owner
        ]
        witnesses = sum(others) if rows else 0
        found[owner] = (bool(rows), len(rows), len(boxes), witnesses, not rows or witnesses >= k - 1)
    return found


def as_dict(table):
    columns = (table.matched, table.samples, table.requests, table.witnesses, table.holds)
    return dict(zip(table.owner.tolist(), zip(*(c.tolist() for c in columns), strict=True), strict=True))


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]
CLOCKS = ["00:00", "06:00", "07:30", "12:00", "18:00", "24:00"]
STARTS = [seconds("2024-12-27T20:00:00"), seconds("2024-03-29T20:00:00"), seconds("2024-10-26T20:00:00")]
RECURRENCES = [
    "1.Days", "2.Days", "2.Weekdays", "1.Weeks", "2.Weeks", "1.Months", "1.Days * 2.Weeks", "2.Weekdays * 1.Weeks",
    "1.Weeks * 1.Months", "1.Weekdays * 1.Months", "1.Days * 1.Weeks * 1.Months", "2.Days*1.Months",
]  # fmt: skip


def case(seed):
    """A few people near new year or a change of the clocks, in four places, and a habit that some of them follow."""
    rng = np.random.default_rng(seed)
    start, step = int(rng.choice(STARTS)), 19_800
    last = int(rng.choice([8, 40]))
    records, boxes, n = [], [], int(rng.integers(1, 6))
    for _ in range(n):
        ticks = np.sort(rng.choice(last + 1, rng.integers(0, min(last, 14) + 1), replace=False))
        record = [(start + step * int(i), *rng.integers(0, 2, 2).astype(float).tolist()) for i in ticks]
        records.append(record)
        row = []
        for t, x, y in record:
            for _ in range(rng.choice([0, 1, 1, 1, 1, 2])):
                wide, early = int(rng.choice([0, 1, 2, 2])), int(rng.integers(0, 4))
                row.append((t - step * wide * early, t + step * wide, x - wide, x + wide, y - wide, y + wide))
        starts, ends = (sorted(box[side] for box in row) for side in (0, 1))
        boxes.append([(start, end, *box[2:]) for start, end, box in zip(starts, ends, row, strict=True)])
    owner = rng.integers(0, 4, n).tolist() if rng.random() < 0.5 else None
    truth = Points.from_records(records, owner=owner, time_format="epoch")
    target = truth if rng.random() < 0.2 else Boxes.from_records(boxes, owner=owner, time_format="epoch")
    elements, texts = [], []
    for _ in range(rng.integers(1, 4)):
        (x1, x2), (y1, y2) = np.sort(rng.choice([0, 0, 1, 1], (2, 2), replace=False), axis=1).tolist()
        early, late = np.sort(rng.choice(len(CLOCKS), 2, replace=False)).tolist()
        hours = [int(c[:2]) * 3600 + int(c[3:]) * 60 for c in (CLOCKS[early], CLOCKS[late])]
        elements.append(((x1, y1, x2, y2), *hours))
        texts.append(f"{x1},{y1},{x2},{y2} {CLOCKS[early]}-{CLOCKS[late]}")
    return truth, target, elements, "; ".join(texts)


@pytest.mark.parametrize("recurrence", RECURRENCES)
@pytest.mark.parametrize("zone", ZONES)
def test_every_person_is_judged_as_the_definition_says(recurrence, zone, monkeypatch):
    first = 1000 * RECURRENCES.index(recurrence) + 100 * ZONES.index(zone)
    for seed in range(first, first + 20):
        truth, target, elements, pattern = case(seed)
        expected = oracle(truth, target, elements, parse_recurrence(recurrence), zone, k=2 + seed % 2)
        monkeypatch.setattr(lbqid_witnesses, "_CHUNK", 4 if seed % 3 else 1 << 20)
        habit = Lbqid(pattern=pattern, recurrence=recurrence, zone=zone, k=2 + seed % 2)
        assert as_dict(user_table(habit, truth, target)) == expected


# The worked example.

NAMES = ("alice", "bob", "carol", "dave")


def commuters(format_="local"):
    """The four of the worked example, from Monday 1 January 2024 on."""
    base, unit = seconds("2024-01-01T00:00:00"), 1 if format_ == "epoch" else SECOND
    records = [
        [((base + 60 * minute) * unit, float(x), float(y)) for x, y, minute in GOLDEN["traces"][name]] for name in NAMES
    ]
    return Points.from_records(records, time_format=format_)


def generalised(data):
    """Each sample as the area that it is in, ten minutes around."""
    ten = 600 * SECOND
    area = {True: (0.0, 10.0, 0.0, 10.0), False: (50.0, 60.0, 50.0, 60.0)}
    boxes = [[(t - ten, t + ten, *area[x < 20]) for t, x, _ in data.record(i)] for i in range(4)]
    return Boxes.from_records(boxes, time_format=data.time_format)


@pytest.mark.parametrize(("k", "holds"), [(2, "k2"), (3, "k3")])
def test_the_commuters(k, holds):
    truth = commuters()
    habit = Lbqid(pattern=GOLDEN["pattern"], recurrence=GOLDEN["recurrence"], k=k)
    exact = as_dict(user_table(habit, truth, truth))
    wide = as_dict(user_table(habit, truth, generalised(truth)))
    for i, name in enumerate(NAMES):
        assert exact[i][0] == wide[i][0] == GOLDEN["matched"][name]
    assert exact[0] == (True, 24, 24, 0, False)
    expected = GOLDEN["generalised"]
    assert wide[0] == (True, expected["requests"], expected["requests"], len(expected["witnesses"]), expected[holds])
    assert exact[1] == wide[1] == exact[3] == (False, 0, 0, 0, True)
    assert wide[2][3] == 1  # alice is a witness of carol


@pytest.mark.parametrize("name", NAMES)
def test_the_days_of_the_commuters(name):
    """As many weekdays in the best week as the worked example says, and not one more."""
    truth = commuters()
    i = NAMES.index(name)
    days = GOLDEN["weekdays_per_week"][name]
    best, total = max(len(d) for d in days.values()), sum(len(d) for d in days.values())
    for recurrence, matched in (
        (f"{best}.Weekdays * 1.Weeks", True),
        (f"{best + 1}.Weekdays * 1.Weeks", False),
        (f"{total}.Weekdays", True),
        (f"{total + 1}.Weekdays", False),
    ):
        table = user_table(Lbqid(pattern=GOLDEN["pattern"], recurrence=recurrence), truth, truth)
        assert table.matched[i] == matched


def test_what_is_measured_of_the_commuters():
    truth = commuters()
    habit = {"pattern": GOLDEN["pattern"], "recurrence": GOLDEN["recurrence"], "k": 2}
    raw, published = attack(truth, truth, **habit), attack(truth, generalised(truth), **habit)
    assert (raw.victims, raw.sampled, raw.adversary) == (4, False, published.adversary)
    assert (
        raw.adversary
        == "knows a habit of 4 places and times of day (3.Weekdays * 2.Weeks) and looks for who follows it"
    )
    assert raw.measured == {
        "users": 4, "users_matched": 2, "users_exposed": 2, "users_exposed_share": 1, "min_witness_people": 0,
        "mean_witness_people": 0, "requests_published_share": 1,
    }  # fmt: skip
    assert published.measured == {
        "users": 4, "users_matched": 2, "users_exposed": 0, "users_exposed_share": 0, "min_witness_people": 1,
        "mean_witness_people": 1, "requests_published_share": 1,
    }  # fmt: skip
    (chart,) = published.charts
    assert dict(zip(chart.labels, chart.series[0].values, strict=True))["1"] == 1
    assert raw.charts[0].series[0].values[0] == 1


def test_samples_of_one_moment_serve_two_elements_in_the_order_of_the_input():
    t = seconds("2024-01-01T17:30:00")
    pattern = "50,50,60,60 16:00-18:00; 0,0,10,10 17:00-19:00"
    office, home = [(t, 55.0, 55.0)], [(t, 5.0, 5.0)]
    both = Points.from_records([office, home], owner=[1, 1], time_format="epoch")
    assert user_table(Lbqid(pattern=pattern), both, both).matched.tolist() == [True]
    other = Points.from_records([home, office], owner=[1, 1], time_format="epoch")
    assert user_table(Lbqid(pattern=pattern), other, other).matched.tolist() == [False]


def test_one_sample_serves_one_element():
    one = Points.from_records([[(seconds("2024-01-01T17:30:00"), 5.0, 5.0)]], time_format="epoch")
    twice = "0,0,10,10 17:00-18:00; 0,0,10,10 17:00-18:00"
    assert user_table(Lbqid(pattern=twice), one, one).matched.tolist() == [False]


# The calendar.


def at(*texts, zone="UTC", unit=1):
    return [(seconds(text, zone) * unit, 1.0, 1.0) for text in texts]


PLACE = "0,0,2,2"


@pytest.mark.parametrize(
    ("time", "inside"), [("06:59:59", 0), ("07:00:00", 1), ("08:00:00", 1), ("08:00:01", 0)]
)  # fmt: skip
@pytest.mark.parametrize("day", ["2024-03-30", "2024-03-31", "2024-10-27", "2024-10-28"])
def test_the_clock_on_the_wall_counts_before_and_after_it_is_changed(day, time, inside):
    data = Points.from_records([at(f"{day}T{time}", zone="Europe/Berlin")], time_format="epoch")
    habit = Lbqid(pattern=f"{PLACE} 07:00-08:00", zone="Europe/Berlin")
    assert user_table(habit, data, data).matched.tolist() == [bool(inside)]


def test_the_hour_that_comes_twice_keeps_the_order_of_time():
    first, second = (datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=f) for f in (0, 1))
    times = [int(when.timestamp()) for when in (first, second)]
    assert times[1] - times[0] == 3600
    data = Points.from_records([[(times[0] + 900, 1.0, 1.0), (times[1] - 900, 5.0, 5.0)]], time_format="epoch")
    habit = Lbqid(pattern=f"{PLACE} 02:40-02:50; 4,4,6,6 02:10-02:20", zone="Europe/Berlin")
    assert user_table(habit, data, data).matched.tolist() == [True]


def test_a_week_goes_over_new_year_and_a_month_does_not():
    days = ["2024-12-30T12:00", "2024-12-31T12:00", "2025-01-01T12:00", "2025-01-02T12:00", "2025-01-03T12:00"]
    data = Points.from_records([at(*days)], time_format="epoch")

    def matched(recurrence):
        return bool(user_table(Lbqid(pattern=f"{PLACE} 11:00-13:00", recurrence=recurrence), data, data).matched[0])

    assert matched("5.Weekdays * 1.Weeks")
    assert not matched("1.Weekdays * 2.Weeks")
    assert matched("2.Days * 2.Months")
    assert not matched("3.Days * 2.Months")
    assert matched("3.Days * 1.Months")
    assert not matched("1.Days * 1.Weeks * 1.Months")  # the week is in neither month


def test_the_weekend_has_no_weekdays():
    data = Points.from_records([at("2024-01-06T12:00", "2024-01-07T12:00")], time_format="epoch")
    for recurrence, matched in (("2.Days", True), ("1.Weekdays", False), ("2.Days * 1.Weeks", True)):
        habit = Lbqid(pattern=f"{PLACE} 00:00-24:00", recurrence=recurrence)
        assert user_table(habit, data, data).matched.tolist() == [matched]


@pytest.mark.parametrize(("format_", "unit", "hour"), [("utc", SECOND, 8), ("epoch", 1, 8), ("local", SECOND, 7)])
def test_times_with_a_zone_are_converted_and_local_ones_are_not(format_, unit, hour):
    data = Points.from_records([at("2024-01-01T07:30:00", unit=unit)], time_format=format_)
    habit = Lbqid(pattern=f"{PLACE} {hour:02}:15-{hour:02}:45", zone="Europe/Berlin")
    assert user_table(habit, data, data).matched.tolist() == [True]
    other = Lbqid(pattern=f"{PLACE} {15 - hour:02}:15-{15 - hour:02}:45", zone="Europe/Berlin")
    assert user_table(other, data, data).matched.tolist() == [False]


def test_microseconds_after_the_end_are_outside():
    t = seconds("2024-01-01T09:00:00") * SECOND
    data = Points.from_records([[(t, 1.0, 1.0)], [(t + 1, 1.0, 1.0)]], time_format="utc")
    assert user_table(Lbqid(pattern=f"{PLACE} 08:00-09:00"), data, data).matched.tolist() == [True, False]


# Places, in degrees and across the line where longitudes jump.


def in_degrees(lon, lat):
    frame = Frame.for_degrees(np.array(lon), np.array(lat))
    x, y = frame.to_metres(np.array(lon), np.array(lat))
    t = seconds("2024-01-01T12:00:00")
    records = [[(t, float(a), float(b))] for a, b in zip(x, y, strict=True)]
    return Points.from_records(records, time_format="epoch", frame=frame)


@pytest.mark.parametrize(
    ("lon", "box", "matched"),
    [
        ([13.37, 13.38, 13.381, 13.369], "13.37,52,13.38,53", [1, 1, 0, 0]),
        ([179.9, -179.9, 179.7, -179.7], "179.8,52,-179.8,53", [1, 1, 0, 0]),
        ([23.0, 24.0, 23.5, 23.6], "-180,52,180,53", [1, 1, 1, 1]),
        ([0.0, 100.0, -100.0, 1.0], "90,52,260,53", [0, 1, 1, 0]),
        ([-170.0, -100.0, 23.0, 0.0], "-175,52,-90,53", [1, 1, 0, 0]),
    ],
)
def test_boxes_of_degrees_stay_boxes(lon, box, matched):
    data = in_degrees(lon, [52.5] * 4)
    table = user_table(Lbqid(pattern=f"{box} 12:00-12:00"), data, data)
    assert table.matched.tolist() == [bool(m) for m in matched]
    low = user_table(Lbqid(pattern=f"{box.replace('52,', '52.6,')} 12:00-12:00"), data, data)
    assert not low.matched.any()


def test_a_published_box_of_degrees_has_a_micrometre_of_room():
    for frame, witnesses in ((Frame.for_degrees(np.array([10.0]), np.array([50.0])), 1), (Frame(), 0)):
        t = seconds("2024-01-01T12:00:00")
        truth = Points.from_records([[(t, 5.0, 5.0)], [(t, 6.0, 6.0)]], time_format="epoch", frame=frame)
        near = (t, t, 5.0, 6.0 - 9e-7, 5.0, 6.0 - 9e-7)
        boxes = Boxes.from_records([[near], [near]], time_format="epoch", frame=frame)
        everywhere = "-180,-90,180,90" if frame.degrees else "0,0,9,9"
        table = user_table(Lbqid(pattern=f"{everywhere} 12:00-12:00"), truth, boxes)
        assert table.witnesses.tolist() == [witnesses, 1]


# Nothing to look for, nothing there, and what is refused.


@pytest.mark.parametrize("time_format", ["integer", "epoch", "utc", "local"])
def test_without_a_pattern_nothing_is_checked(time_format):
    data = Points.from_records([[(0, 1.0, 1.0)]], time_format=time_format)
    result = attack(data, data)
    assert (result.victims, result.sampled, result.charts) == (0, False, ())
    assert set(result.measured.values()) == {None}
    assert result.adversary.endswith("so nothing was checked")


def test_times_without_a_calendar_are_refused_where_a_pattern_is_given():
    data = Points.from_records([[(0, 1.0, 1.0)]])
    with pytest.raises(InputError, match="lbqid: the times are plain integers without a calendar"):
        attack(data, data, pattern=f"{PLACE} 00:00-24:00")


@pytest.mark.parametrize("t", [-62_135_596_801, 253_402_300_800, 2**62])
def test_times_outside_the_calendar_are_refused(t):
    data = Points.from_records([[(t, 1.0, 1.0)]], time_format="epoch")
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        attack(data, data, pattern=f"{PLACE} 00:00-24:00")
    inside = Points.from_records([[(-62_135_596_800, 1.0, 1.0), (253_402_300_799, 1.0, 1.0)]], time_format="epoch")
    found = attack(inside, inside, pattern=f"{PLACE} 00:00-24:00", zone="Asia/Tokyo", recurrence="2.Months")
    assert found.measured["users_matched"] == 1


def test_samples_that_are_not_published_make_no_request():
    data = Points.from_records([at("2024-01-01T12:00")] * 3, time_format="epoch")
    target = Boxes.from_records([[], [], []], time_format="epoch")
    found = attack(data, target, pattern=f"{PLACE} 12:00-12:00", k=3).measured
    assert (found["users_exposed"], found["min_witness_people"], found["requests_published_share"]) == (0, 2, 0)
    assert attack(data, target, pattern=f"{PLACE} 12:00-12:00", k=4).measured["users_exposed"] == 3


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_nobody_there(records):
    nobody = Points.from_records(records, time_format="epoch")
    result = attack(nobody, nobody, pattern=f"{PLACE} 00:00-24:00", recurrence="1.Days * 2.Weeks * 1.Months")
    assert (result.victims, result.measured["users_matched"], result.measured["min_witness_people"]) == (0, 0, None)


def test_huge_coordinates():
    data = Points.from_records([[(0, 1e12, -1e12)], [(0, 1e12, -1e12)]], time_format="epoch")
    found = attack(data, data, pattern="1e11,-1e13,1e13,0 00:00-00:00", k=2).measured
    assert (found["users_matched"], found["users_exposed"], found["min_witness_people"]) == (2, 0, 1)


def test_trips_of_one_person_are_no_witnesses():
    data = Points.from_records([at("2024-01-01T12:00")] * 4, owner=[5, 5, 5, 2], time_format="epoch")
    table = user_table(Lbqid(pattern=f"{PLACE} 12:00-12:00", k=2), data, data)
    assert (table.owner.tolist(), table.witnesses.tolist()) == ([2, 5], [1, 1])
    alone = replace(data, owner=np.zeros(4, np.int64))
    assert user_table(Lbqid(pattern=f"{PLACE} 12:00-12:00", k=2), alone, alone).holds.tolist() == [False]


@pytest.mark.parametrize(
    "pattern",
    [
        "home 07:00-08:00", "1,2,3 07:00-08:00", "0,0,1,1", "0,0,1,1 7-8", "0,0,1,1 07:00-08:00;",
        "0,0,nan,1 07:00-08:00", "0,0,1,1 07:00-08:00 and more",
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_be_read_is_refused(pattern):
    with pytest.raises(ParameterError, match="lbqid: every element of pattern must look like x_min,y_min,x_max,y_max"):
        Lbqid(pattern=pattern)


@pytest.mark.parametrize(
    "pattern",
    ["0,2,1,1 07:00-08:00", "0,0,1,1 08:00-07:00", "0,0,1,1 07:00-24:01", "0,0,1,1 07:60-08:00",
     "0,0,1e999,1 07:00-08:00", "0,0,1,1 07:00-08:00:60"],
)  # fmt: skip
def test_a_pattern_that_makes_no_sense_is_refused(pattern):
    with pytest.raises(ParameterError, match="lbqid: in every element of pattern y_min must be at most y_max"):
        Lbqid(pattern=pattern)


def test_x_the_other_way_round_is_for_longitudes_only():
    data = Points.from_records([at("2024-01-01T12:00")], time_format="epoch")
    with pytest.raises(ParameterError, match="x_min must be at most x_max, got 2 and 0"):
        attack(data, data, pattern="2,0,0,2 12:00-12:00")


@pytest.mark.parametrize(
    "recurrence",
    ["", "3", "Days", "0.Days", "3.Years", "2.Weeks * 3.Days", "1.Days * 2.Weekdays", "2.Weeks * 2.Weeks", "1.Days *",
     "-1.Days"],
)  # fmt: skip
def test_a_recurrence_that_cannot_be_read_is_refused(recurrence):
    with pytest.raises(ParameterError, match=r"lbqid: recurrence must look like 1\.Days or 3\.Weekdays"):
        Lbqid(recurrence=recurrence)


@pytest.mark.parametrize("zone", ["", "Berlin", "Europe/Atlantis", "CEST!"])
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(ParameterError, match="lbqid: zone must be the IANA name of a time zone"):
        Lbqid(zone=zone)


def test_patterns_and_recurrences_are_read_with_room():
    hour = 3600 * SECOND
    found = parse_pattern(" -1.5, 2e1 ,3,40 7:00 - 08:30:15 ; 0,0,0,0 00:00-24:00")
    assert found == ((-1.5, 20, 3, 40, 7 * hour, 8 * hour + 1815 * SECOND), (0, 0, 0, 0, 0, 24 * hour))
    assert parse_recurrence(" 2 . day*3.WEEKS * 1.Month") == ((2, "day"), (3, "week"), (1, "month"))
    assert granule(date(2024, 1, 7), "week") == date(2024, 1, 1)


def test_data_that_do_not_belong_together_are_refused():
    data = Points.from_records([at("2024-01-01T12:00")], time_format="epoch")
    with pytest.raises(InputError, match="lbqid: the attacked data must have one trajectory for each"):
        attack(data, Points.from_records([], time_format="epoch"))
