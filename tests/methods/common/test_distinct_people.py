import pytest

from wayveil.errors import InputError
from wayveil.methods.common.distinct_people import check_people
from wayveil.model import Visits


def test_people_with_a_row_are_counted_once() -> None:
    one, nothing = [("a", 1)], []
    data = Visits.from_records([one, one, one, nothing], owner=[0, 1, 0, 2])
    check_people("method", data, 2, "visits")
    with pytest.raises(InputError, match="method: k is 3, but the data holds visits of 2 people: nothing could stay"):
        check_people("method", data, 3, "visits")
