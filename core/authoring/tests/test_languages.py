# ruff: noqa: RUF001 - letters of other languages are the point
"""Checks of the language: what they accept and what they refuse, over sentences translated by hand."""

from itertools import combinations, permutations
from typing import Final

import pytest
from jrh_authoring import is_english, other_language
from jrh_authoring import texts as texts_module
from jrh_testing import loop_over

ENGLISH: Final = (
    "A soft egg needs about five to six minutes in boiling water.",
    "Most adults need between seven and nine hours of sleep a night.",
    "Running shoes wear out after some hundred kilometres.",
    "One centimetre is exactly ten millimetres.",
    "Electric kettles boil water faster than a pot on the stove does.",
    "Thank you for asking, but sadly I cannot come.",
    "The capital of Australia is Canberra, not Sydney.",
    "Washing removes germs that could make us ill when we eat or touch our face.",
)
TRANSLATED: Final = {
    "de": (
        "Ein weiches Ei braucht etwa fünf bis sechs Minuten in kochendem Wasser.",
        "Die meisten Erwachsenen brauchen zwischen sieben und neun Stunden Schlaf pro Nacht.",
        "Laufschuhe sind nach einigen hundert Kilometern abgenutzt.",
        "Ein Zentimeter sind genau zehn Millimeter.",
        "Elektrische Wasserkocher bringen Wasser schneller zum Kochen als ein Topf auf dem Herd.",
        "Danke für die Einladung, aber leider kann ich nicht kommen.",
        "Die Hauptstadt von Australien ist Canberra, nicht Sydney.",
        "Waschen entfernt Keime, die uns krank machen könnten, wenn wir essen oder unser Gesicht berühren.",
    ),
    "fr": (
        "Un œuf mollet demande environ cinq à six minutes dans l'eau bouillante.",
        "La plupart des adultes ont besoin de sept à neuf heures de sommeil par nuit.",
        "Les chaussures de course s'usent après quelques centaines de kilomètres.",
        "Un centimètre fait exactement dix millimètres.",
        "Les bouilloires électriques chauffent l'eau plus vite qu'une casserole sur la cuisinière.",
        "Merci de votre invitation, mais je ne peux malheureusement pas venir.",
        "La capitale de l'Australie est Canberra, et non Sydney.",
        "Le lavage élimine les germes qui pourraient nous rendre malades lorsque nous mangeons.",
    ),
    "es": (
        "Un huevo blando necesita unos cinco o seis minutos en agua hirviendo.",
        "La mayoría de los adultos necesita entre siete y nueve horas de sueño por noche.",
        "Las zapatillas de correr se desgastan después de algunos cientos de kilómetros.",
        "Un centímetro son exactamente diez milímetros.",
        "Los hervidores eléctricos calientan el agua más rápido que una olla en la estufa.",
        "Gracias por preguntar, pero lamentablemente no puedo ir.",
        "La capital de Australia es Canberra, no Sídney.",
        "Lavarse elimina los gérmenes que podrían enfermarnos cuando comemos o nos tocamos la cara.",
    ),
    "it": (
        "Un uovo alla coque richiede circa cinque o sei minuti in acqua bollente.",
        "La maggior parte degli adulti ha bisogno di sette o nove ore di sonno a notte.",
        "Le scarpe da corsa si consumano dopo qualche centinaio di chilometri.",
        "Un centimetro è esattamente dieci millimetri.",
        "I bollitori elettrici fanno bollire l'acqua più in fretta di una pentola sul fornello.",
        "Grazie per l'invito, ma purtroppo non posso venire.",
        "La capitale dell'Australia è Canberra, non Sydney.",
        "Lavarsi elimina i germi che potrebbero farci ammalare quando mangiamo o ci tocchiamo il viso.",
    ),
    "pt": (
        "Um ovo mole precisa de cerca de cinco a seis minutos em água a ferver.",
        "A maioria dos adultos precisa de sete a nove horas de sono por noite.",
        "Os ténis de corrida gastam-se depois de algumas centenas de quilómetros.",
        "Um centímetro são exatamente dez milímetros.",
        "As chaleiras elétricas fervem a água mais depressa do que uma panela no fogão.",
        "Obrigado pelo convite, mas infelizmente não posso ir.",
        "A capital da Austrália é Camberra, não Sydney.",
        "Lavar remove os germes que nos poderiam deixar doentes quando comemos ou tocamos no rosto.",
    ),
    "nl": (
        "Een zachtgekookt ei heeft ongeveer vijf tot zes minuten nodig in kokend water.",
        "De meeste volwassenen hebben zeven tot negen uur slaap per nacht nodig.",
        "Hardloopschoenen zijn na een paar honderd kilometer versleten.",
        "Een centimeter is precies tien millimeter.",
        "Elektrische waterkokers koken water sneller dan een pan op het fornuis.",
        "Bedankt voor de uitnodiging, maar helaas kan ik niet komen.",
        "De hoofdstad van Australië is Canberra, niet Sydney.",
        "Wassen verwijdert bacteriën die ons ziek kunnen maken als we eten of ons gezicht aanraken.",
    ),
    "sv": (
        "Ett löskokt ägg behöver ungefär fem till sex minuter i kokande vatten.",
        "De flesta vuxna behöver mellan sju och nio timmars sömn per natt.",
        "Löparskor slits ut efter några hundra kilometer.",
        "En centimeter är exakt tio millimeter.",
        "Elektriska vattenkokare kokar vatten snabbare än en kastrull på spisen.",
        "Tack för inbjudan, men tyvärr kan jag inte komma.",
        "Australiens huvudstad är Canberra, inte Sydney.",
        "Tvätt tar bort bakterier som kan göra oss sjuka när vi äter eller rör vid ansiktet.",
    ),
    "pl": (
        "Jajko na miękko potrzebuje około pięciu do sześciu minut we wrzącej wodzie.",
        "Większość dorosłych potrzebuje od siedmiu do dziewięciu godzin snu na dobę.",
        "Buty do biegania zużywają się po kilkuset kilometrach.",
        "Jeden centymetr to dokładnie dziesięć milimetrów.",
        "Czajniki elektryczne gotują wodę szybciej niż garnek na kuchence.",
        "Dziękuję za zaproszenie, ale niestety nie mogę przyjść.",
        "Stolicą Australii jest Canberra, a nie Sydney.",
        "Mycie usuwa zarazki, które mogłyby wywołać chorobę, gdy jemy lub dotykamy twarzy.",
    ),
    "fi": (
        "Pehmeä muna tarvitsee noin viidestä kuuteen minuuttia kiehuvassa vedessä.",
        "Useimmat aikuiset tarvitsevat seitsemästä yhdeksään tuntia unta yössä.",
        "Juoksukengät kuluvat loppuun muutaman sadan kilometrin jälkeen.",
        "Yksi senttimetri on tasan kymmenen millimetriä.",
        "Vedenkeitin keittää veden nopeammin kuin kattila liedellä.",
        "Kiitos kutsusta, mutta valitettavasti en pääse tulemaan.",
        "Australian pääkaupunki on Canberra, ei Sydney.",
        "Peseminen poistaa pöpöt, jotka voisivat sairastuttaa meidät, kun syömme tai kosketamme kasvojamme.",
    ),
    "tr": (
        "Rafadan bir yumurta kaynar suda yaklaşık beş altı dakika ister.",
        "Çoğu yetişkin gecede yedi ile dokuz saat uykuya ihtiyaç duyar.",
        "Koşu ayakkabıları birkaç yüz kilometreden sonra eskir.",
        "Bir santimetre tam olarak on milimetredir.",
        "Elektrikli su ısıtıcıları suyu ocaktaki tencereden daha hızlı kaynatır.",
        "Davetiniz için teşekkürler ama maalesef gelemiyorum.",
        "Avustralya'nın başkenti Sidney değil, Kanberra'dır.",
        "Yıkanmak, yemek yerken ya da yüzümüze dokunurken bizi hasta edebilecek mikropları giderir.",
    ),
    "ru": (
        "Яйцо всмятку варится в кипящей воде около пяти или шести минут.",
        "Большинству взрослых нужно от семи до девяти часов сна в сутки.",
        "Беговые кроссовки изнашиваются через несколько сотен километров.",
        "Один сантиметр — это ровно десять миллиметров.",
        "Электрический чайник кипятит воду быстрее, чем кастрюля на плите.",
        "Спасибо за приглашение, но, к сожалению, я не смогу прийти.",
        "Столица Австралии — Канберра, а не Сидней.",
        "Мытьё удаляет микробы, от которых можно заболеть, когда мы едим или трогаем лицо.",
    ),
    "ja": (
        "半熟卵は沸騰したお湯でおよそ五分から六分かかります。",
        "ほとんどの大人は一晩に七時間から九時間の睡眠が必要です。",
        "ランニングシューズは数百キロメートルで摩耗します。",
        "一センチメートルはちょうど十ミリメートルです。",
        "電気ケトルはコンロの鍋よりも速くお湯を沸かします。",
        "お誘いありがとうございます。残念ながら行けません。",
        "オーストラリアの首都はシドニーではなくキャンベラです。",
        "手を洗うと、食事や顔に触れるときに病気の原因となる菌が取り除かれます。",
    ),
}
"""Language -> the sentences of `ENGLISH` in it, in order."""

REQUEST = "What would you say?"


def test_a_translation_is_another_language() -> None:
    # The function words of seven languages, which decided before, found 18 of these 96.
    found = {name: sum(map(other_language, ENGLISH, texts)) for name, texts in TRANSLATED.items()}
    assert sum(found.values()) >= 85, found
    assert min(found.values()) >= 5, found


def test_a_translation_between_other_languages_is_one_too() -> None:
    pairs = [pair for one, other in combinations(TRANSLATED.values(), 2) for pair in zip(one, other, strict=True)]
    assert sum(other_language(*pair) for pair in pairs) >= 0.9 * len(pairs)


@loop_over("texts", [ENGLISH, *TRANSLATED.values()])
def test_two_texts_of_one_language_are_not_in_two(texts: tuple[str, ...]) -> None:
    assert not [pair for pair in permutations(texts, 2) if other_language(*pair)]


@loop_over(
    "text",
    [
        "x = 3, y = 4, so x^2 + y^2 = 25.",
        "SELECT name FROM users WHERE id = 1;",
        "Paris, Lyon, Marseille, Toulouse",
        "DOWN",
        "42",
    ],
)
def test_formulas_names_and_single_words_are_no_language(text: str) -> None:
    assert not other_language(ENGLISH[0], text)
    assert not other_language(text, ENGLISH[0])


def test_what_is_plainly_english_needs_no_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        texts_module, "_languages", lambda text: asked.append(text) or {"en": 0.4, "de": 0.3, "fr": 0.3}
    )
    assert all(map(is_english, ENGLISH))
    assert not any(other_language(*pair) for pair in permutations(ENGLISH, 2))
    assert not other_language(ENGLISH[5], "Thanks for asking, but sadly I can't come.")
    assert not other_language(TRANSLATED["de"][3], "Ein Zentimeter ist gleich zehn Millimeter.")
    assert is_english("maison", "What is the French word for 'house'?")
    assert not asked
    is_english("Im Deutschen sagt man 'the' und 'and' fast nie, und das ist auch gut so.", REQUEST)
    assert asked


def test_no_translation_is_english_whatever_it_answers() -> None:
    for texts in TRANSLATED.values():
        for text in texts:
            assert not is_english(text), text
            assert not is_english(text, REQUEST), text


def test_english_is_english_also_with_few_function_words() -> None:
    assert all(map(is_english, ENGLISH))


@loop_over(
    ("text", "request_", "english"),
    [
        ("Venus, Earth, Mars.", "Name three planets of the solar system.", True),
        ("Venus, Erde, Mars.", "Nenne drei Planeten unseres Sonnensystems.", False),
        ("maison", "What is the French word for 'house'?", True),  # too short to tell
        ("Guten Morgen, meine Damen und Herren", "How do you greet people in German?", False),
        ("42", "What is six times seven?", False),
        ("", "What is six times seven?", False),
        ("Луара", "Which river?", False),
    ],
)
def test_a_short_text_is_read_with_what_it_answers(text: str, request_: str, english: bool) -> None:
    assert is_english(text, request_) is english
