"""Texts are decoded whatever they were saved as, and what is no text is refused."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.ingest.encodings import decoded
from weftwork.ingest.events import Refused

WIDE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp1252"]
TEXTS = [
    ("cp1252", "Für die Prüfung größerer Öfen gilt: »Späne« entfernen, 20 °C halten."),
    ("cp1252", "El niño pidió más café; ¿dónde está la señora Muñoz?"),
    ("cp1252", "It’s the “mirror” – coated in February, isn’t it…"),
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl náš učitel češtiny."),
    ("cp1250", "Zażółć gęślą jaźń, powiedziała pani Łucja i wyszła na świeże powietrze."),
    ("cp1251", "Зеркало покрыли алюминием в феврале, а трубу сделали из берёзы."),
    ("koi8_r", "Зеркало покрыли алюминием в феврале, а трубу сделали из берёзы."),
    ("cp866", "Зеркало покрыли алюминием в феврале, а трубу сделали из берёзы."),
    ("cp1253", "Ο καθρέφτης επαλείφθηκε τον Φεβρουάριο και ο σωλήνας είναι από σημύδα."),
    ("cp1255", "המראה צופתה בפברואר והצינור עשוי מעץ ליבנה."),
    ("cp1256", "تم طلاء المرآة في شهر فبراير وصنع الأنبوب من خشب البتولا."),
    ("shift_jis", "鏡は二月にアルミニウムでコーティングされ、筒は白樺で作られています。"),
    ("cp932", "名前、年齢、住所\n髙橋淳、三十五、名古屋\n佐藤太郎、三十、東京"),
    ("euc_jp", "鏡は二月にアルミニウムでコーティングされ、筒は白樺で作られています。"),
    ("gb18030", "这面镜子是在二月里镀的铝，我们用的管子是用桦木做的，大家都说很好看。"),
    ("big5", "這面鏡子是在二月裡鍍的鋁，我們用的管子是用樺木做的，大家都說很好看。"),
    ("euc_kr", "거울은 이월에 알루미늄으로 코팅했고 통은 자작나무로 만들었습니다."),
]


@pytest.mark.parametrize("encoding", WIDE)
def test_text_is_decoded_whatever_it_was_saved_as(encoding):
    assert decoded("Café au lait – at nine.\n".encode(encoding)) == "Café au lait – at nine.\n"


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_older_encodings_are_told_by_their_frequent_letters(encoding, text):
    note = f"# Finch\n\n{text}\n\n- one\n- two\n"
    assert decoded(note.encode(encoding)) == note


@pytest.mark.parametrize("data", [bytes(range(256)), b"\0\1\2\3" * 50, b"\x89PNG\r\n\x1a\n" + bytes(range(1, 99))])
def test_what_is_no_text_that_is_known_is_refused(data):
    with pytest.raises(Refused):
        decoded(data)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_text(seed):
    with pytest.raises(Refused):
        decoded(random.Random(seed).randbytes(3000))


def test_utf8_with_one_wrong_byte_is_not_taken_for_another_encoding():
    text = "Größe und Gewähr für Öfen, Späne und Türen. " * 5
    with pytest.raises(Refused, match="is not UTF-8 text"):
        decoded(text.encode() + b"\xff")


@given(st.text())
def test_utf8_comes_back_as_it_was(text):
    try:
        assert decoded(text.encode()) == text.removeprefix("\ufeff")
    except Refused:
        assert "\0" in text
