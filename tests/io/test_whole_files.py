import os

import pytest

from wayveil.io.publish.atomic import system_error, whole_file


def fail_half_way(target, stop):
    with whole_file(target) as part:
        part.write_text("half")
        raise stop


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with whole_file(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
        assert part.parent == tmp_path
        assert part.name.startswith(".")
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("stop", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_file_that_fails(tmp_path, stop):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(stop):
        fail_half_way(target, stop)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_failure_before_the_first_byte_is_told_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "no folder" / "table.csv") as part:
        part.write_text("new")


def test_the_longest_name_works_and_two_writers_do_not_meet(tmp_path):
    target = tmp_path / ("x" * 255)
    with whole_file(target) as one, whole_file(target) as other:
        one.write_text("one")
        other.write_text("other")
    assert target.read_text() == "one"  # that of the last one to end


def test_the_number_of_an_error_of_the_system():
    assert system_error(ValueError("No space left on device (os error 28): somewhere")) == 28
    assert system_error(ValueError("column not found")) is None
