"""What names of columns say that are not in Latin letters: words are found inside of such names."""

from __future__ import annotations

import unicodedata

__all__ = ["SCRIPT_SIDES", "SCRIPT_WORDS", "find_script_words"]

# Chinese, Japanese, Korean, Russian, Greek, Arabic, Hebrew; of words that begin alike the longer stands first.
SCRIPT_WORDS: dict[str, str] = {
    "other": """
        速度 车速 方向 方位 票价 金额 价格 费用 里程 距离 时长 状态 类型 性别 年龄 数量 线路 순번 이용시간
        이용거리 거리 거치대 요금 성별 連番 料金 距離 скорость направлени цена стоимость длительность
        расстояние тип статус возраст السرعة الاتجاه السعر المسافة النوع الحالة ταχύτητα τιμή απόσταση מהירות
        מחיר
        """,
    "lon": "经度 經度 経度 경도 долгота الطول μήκος אורך",
    "lat": "纬度 緯度 위도 широта العرض πλάτος רוחב",
    "person": """
        用户 使用者 用戶 乘客 司机 司機 会员 會員 会員 利用者 卡号 卡號 卡编号 卡片 身份证 手机 设备 车牌 车辆
        車輛 車両 车号 船名 自行车 自転車 사용자 회원 이용자 승객 운전자 카드 차량 단말 자전거번호 자전거
        пользовател пассажир водител клиент абонент автомобил машин транспортн устройств карты карта велосипед
        مستخدم المستخدم راكب سائق السائق مركبة المركبة سيارة بطاقة جهاز χρήστη επιβάτη οδηγ όχημα οχήματ κάρτα
        משתמש נוסע נהג רכב כרטיס
        """,
    "trajectory": "行程 订单 訂單 轨迹 軌跡 여정 통행 поездк рейс الرحلة رحلة διαδρομή נסיעה",
    "time": """
        时间 時間 时刻 時刻 日期 日時 日付 날짜 일시 시각 시간 время дата الوقت وقت التاريخ تاريخ ώρα χρόνος
        ημερομηνία זמן תאריך שעה
        """,
    "place": """
        站点 站點 站名 车站 車站 地点 地點 位置 场所 場所 停留所 駅 基站 小区 대여소 정류장 정거장 역명
        지점 장소 станци остановк место المحطة محطة المكان مكان σταθμό στάση τοποθεσία תחנה מקום
        """,
}
"""What a column may be, and the parts of names that say so."""

SCRIPT_SIDES: dict[str, str] = {
    "start": """
        上车 上車 进站 進站 入站 起点 起點 出发 出發 开始 開始 借车 乗車 入場 出発 대여 출발 승차 начал
        отправлен посадк старт البداية بداية الانطلاق الصعود αφετηρία έναρξη επιβίβαση התחלה עליה
        """,
    "end": """
        下车 下車 出站 终点 終點 到达 到達 结束 結束 还车 還車 降車 出場 到着 반납 도착 하차 конец конца оконча
        прибыт высадк финиш النهاية نهاية الوصول النزول προορισμό λήξη αποβίβαση סיום ירידה
        """,
}
"""Which end of a trip, and the parts of names that say so."""

_WORDS = {role: tuple(text.split()) for role, text in SCRIPT_WORDS.items()}
_SIDES = {side: tuple(text.split()) for side, text in SCRIPT_SIDES.items()}


def find_script_words(name: str) -> tuple[str, str, str] | None:
    """Return role, side and word of a name in another script; None where it says nothing that is known.

    Examples
    --------
    >>> find_script_words("进站时间"), find_script_words("반납대여소번호"), find_script_words("速度")
    (('time', 'start', '时间'), ('place', 'end', '대여소'), None)
    """
    bare = unicodedata.normalize("NFC", name).lower()
    # Of each role the last word that occurs; roles are asked in the order of the table above.
    by_role = {role: word for role, words in _WORDS.items() for word in words if word in bare}
    if "other" in by_role:
        return None
    role = next(iter(by_role), "")
    # A station for renting has the word for renting in it, which here is no end of a trip.
    rest = bare.replace(by_role[role], " ") if role else bare
    side, word = next(((side, word) for side, words in _SIDES.items() for word in words if word in rest), ("", ""))
    if role:
        return role, side, by_role[role]
    return ("place", side, word) if side else None
