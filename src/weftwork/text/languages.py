"""The language of a text, told by its script and its function words, and these words themselves."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain

ENGLISH = "english"
"""What a text counts as that shows no other language."""

READ = 800
"""Characters of a text that are looked at."""
LEAST, SHARE = 2, 0.1
"""Function words that a text needs to count as another language than English, and their share of its words."""
MARK = "\u00a7"
"""Begins the term that tells the language of a passage; no word contains it."""

_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = "".join(letter if letter.isalpha() else " " for letter in map(chr, range(128)))
"""ASCII with a space for all that is no letter: a text that is translated by it is split twice as fast."""
_SCRIPTS = {
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
    "arabic": re.compile("[\u0620-\u064a]"),
}
_PERSIAN_OR_URDU = re.compile("[\u067e\u0686\u0698\u06a9\u06af\u06cc]")
"""Letters of languages that have the Arabic script and other endings."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        ENGLISH: """
            a about an and any are as at be been but by can could did do does for from had has have how i if in
            into is it its may me my no not of on or our s should so such t than that the their them then there
            these they this to was we were what when where which who why will with would you your
        """,
        "danish": """
            ad af alle alt at blev bliver da de dem den denne der deres det dette dig din du efter eller en er
            et for fra få får han hans har havde have her hun hvad hvem hver hvor hvordan hvorfor hvornår i ikke
            ind ja jeg jer kan kun kunne man mange med meget men mig min må ned nej noget nogen nogle nu når og
            også om op os over på selv sig sin skal skulle som til ud under var ved vi vil ville være været
        """,
        "dutch": """
            aan al alle als altijd bij dan dat de der deze die dit doen door dus een en er ge geen haar had heb
            hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is je kan kon kunnen maar mag me
            meer men met mijn mogen moet na naar niet niets nog nu of om onder ons ook op over reeds te tegen
            toch toen tot u uit van veel voor waar waarom wanneer want waren was wat we wel welke werd wie wij
            wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou
        """,
        "finnish": """
            ei eivät emme en että ette hän hänen he heidän ja jo joka jonka jos jossa jota jotka kaikki kanssa
            kuin kuinka kuka kun ketä me mikä miksi millä milloin minkä minun minä missä mitä mistä mukaan mutta
            myös ne niiden niin niitä nyt ole olen olet oli olla on ovat saa sen se sekä siinä sillä sinä sitä
            tai tämä tämän tätä te toinen tulee vai vain voi voiko vaan
        """,
        "french": """
            à ai ait alors au aucun aussi autre aux avait avec avez avoir c ce cela ces cet cette ceux chaque
            comme comment d dans de des dont du elle elles en entre est et être eu eux fait il ils j je l la le
            les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas peut peuvent
            plus pour pourquoi qu quand que quel quelle quelles quels qui s sa sans se ses si son sont sur t ta
            te tes toi ton tous tout toute toutes tu un une vos votre vous y
        """,
        "german": """
            aber alle allem allen aller alles als also am an auch auf aus bei bin bis bist da damit dann darf
            das dass dein dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein
            eine einem einen einer eines er es für gegen hab habe haben hat hatte hatten ich ihm ihn ihnen ihr
            ihre ihrem ihren ihrer im in ins ist jede jedem jeden jeder jedes kann kein keine keinen können man
            mein meine mich mir mit muss müssen nach nicht noch nun nur ob oder ohne sehr sein seine seinem
            seinen seiner sich sie sind so soll sollen über um und uns unser unter vom von vor wann war waren
            warum was welche welcher welches wenn wer werden wie wieder wir wird wo wurde wurden zu zum zur
            zwischen
        """,
        "greek": """
            από αλλά αν ανά αυτά αυτή αυτό αυτός αυτών για δε δεν είναι είχε ένα ένας έχει έχουν ή η θα και κάθε
            κάποιος κατά κι με μετά μη μην μια μία μου μπορεί μπορώ να ο οι όλα όλοι όπως όταν ότι ού παρά περί
            ποια ποιο ποιος ποιοι πόσα πόσο πότε που πού πρέπει προς πως πώς σαν σε στα στη στην στις στο στον
            στους στων τα τη την της τι τις το τον του τους των ως
        """,
        "hungarian": """
            a abban ahhoz aki akik akkor alatt amely amelyek ami az azok azon azt be csak de e ebben egy egyes
            egyik el ennek erre és ez ezek ezen ezt ha hanem hogy hogyan hol hány is jó ki kell kik le legyen
            lehet lesz majd még meg mely melyik mert mi mik miért mikor mint mit nagyon nem nincs olyan ő ők
            össze s saját sem semmi sok szerint szét tehát továbbá úgy után vagy van vannak volt vele való
        """,
        "italian": """
            a ad agli ai al alla alle allo anche c che chi ci cioè come con contro cui d da dagli dai dal dalla
            dalle dallo degli dei del della delle dello dove dovrebbe di e è ed era essere fra gli ha hanno ho i
            il in io l la le lei li lo loro lui ma mi mia mie miei mio ne negli nei nel nella nelle nello noi
            non nostra nostro o ogni per perché perchè più può possono posso quale quali quando quanti quanto
            quella quelle quelli quello questa queste questi questo s sarà se si sia siamo sono su sua sue sugli
            sui sul sulla sulle suo suoi tra tu tutti tutto un una uno vi voi
        """,
        "norwegian": """
            alle at av ble blir bli da de dem den denne der dere deres det dette din du eller en er et ett etter
            for fra få får før ha hadde han hans har her hun hva hvem hver hvilke hvilken hvor hvordan hvorfor i
            ikke inn ja jeg kan kun kunne man mange med meg men mer min mitt må mye nei noe noen nå når og også
            om opp oss over på seg selv sin sitt skal skulle som til ut uten var ved vi vil ville være vært
        """,
        "portuguese": """
            a ao aos aquela aquele as às até com como da das de dela dele depois do dos e é ela elas ele eles em
            entre era essa esse esta está este eu foi foram há isso isto já lhe mais mas me mesmo meu minha
            muito na não nas nem no nos nós nossa nosso num numa o os onde ou para pela pelas pelo pelos podem
            pode posso por porque porquê qual quais quando quanto quantos que quê quem se sem ser será seu seus
            só são sua suas também te tem têm toda todas todo todos tu um uma você
        """,
        "romanian": """
            a acea aceasta această acest aceste acestea al ale alte altul am ar are asupra au avea c ca care
            câte câți ce cea cei cel cele cine conform cu cum când d da dacă dar de decât deci din după ea ei el
            ele este eu fi fie fiecare fără fost iar îi îl în îmi între își la l le lor lui mai mea mei meu mie
            mele mi nici nu o ori orice oricine pe pentru poate pot prin s sa sau să se sînt sunt și şi său sale
            spre sub te tot toate toți un una unei unor unui unde va vor
        """,
        "russian": """
            а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее
            её ей ему если есть еще ещё же за и из или им их к как какая какие какой каком ко когда которая
            которые который кто куда ли либо мне может могут можно мой моя мы на над нам нас не него нее ней нет
            ни них но ну о об обо он она они оно от очень по под почему при с сам свой свою себя сколько со так
            также там те тем то того только том тот тут ты у уже хотя чего чей чем что чтобы эта эти это этого
            этой этом этот я
        """,
        "spanish": """
            a al algo ante antes aquel así aun aunque c cada como cómo con contra cual cuál cuáles cuando cuándo
            cuánto cuántos de del desde donde dónde dos e el él ella ellas ellos en entre era es esa ese eso
            esta está están estas este esto estos fue fueron ha haber han hasta hay la las le les lo los más me
            mi mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero por porque pueda
            puede pueden puedo que qué quien quién quiénes se sea ser si sí sido sin sobre son soy su sus
            también tanto te tiene tienen toda todas todo todos tu tus un una uno unos usted y ya yo
        """,
        "swedish": """
            alla allt än är att av bara bli blir blev då de dem den denna deras dess dessa det detta dig din du
            efter ej eller en er ett för från få får ha hade han hans har här hon honom hos hur i icke inom inte
            jag ju kan kunde man med mellan men mig min mycket ni nu när någon något några och om oss på sådan
            samma sedan sig sin ska skall skulle som så till under upp ut utan vad vara varför varit varje var
            vem vi vid vilka vilken vilket åt över
        """,
        "turkish": """
            acaba ama ancak bana bazı belki ben beni benim bir birçok biri biz bizim bu buna bunda bundan bunu
            bunun çok çünkü da daha de değil diye en gibi göre hangi hem hep hepsi her hiç için ile ise kadar
            kendi kendisi kez ki kim kimin kime kimse mı mi mu mü nasıl ne neden nedir nerede nereye niçin niye
            o olan olarak oldu olduğu olur ona ondan onlar onu onun sanki sen siz şey şu tarafından tüm var ve
            veya ya yani yok
        """,
        "arabic": """
            أن أو أي أية إذا إلا إلى إن التي الذي الذين أنا أنت ألا اي بأن بعد بل بها بهذا به بين تلك ثم حتى حيث
            حين ذلك عدم على عليه عليها عن عند غير فإن في فيها فيه قبل قد كان كانت كل كلا كم كما كيف لا لأي لدى
            لذلك لكل لكن له لها لهم لم لماذا لن لي ليس ما ماذا متى مثل مع من منه منها منهم نحن هذا هذه هل هم هنا
            هناك هو هي و وأن وفي وقد وكان ولا ولم ولو وما ومن وهذا وهو وهي يا يكون أين
        """,
        "tamil": """
            அது அந்த அல்லது அவர் அவர்கள் அவன் அவள் இந்த இது இல்லை உள்ள எந்த என என்ன என்று என்பது எப்படி எப்போது
            எல்லா எவ்வளவு எவரும் ஏன் ஒரு ஒவ்வொரு கொண்ட தன் தனது நான் நாம் நீ பற்றி மற்றும் மேலும் யார் யாருக்கு
            வரை வேண்டும்
        """,
    }.items()
}
"""Words by which a language is told, and which tell little about what a query is after."""

_BY_WORD: dict[str, tuple[str, ...]] = {}
for _language, _words in FUNCTION_WORDS.items():
    for _word in _words:
        # Single letters are names of variables in code, and initials.
        if len(_word) > 1 or not _word.isascii() or _language == ENGLISH:
            _BY_WORD[_word] = (*_BY_WORD.get(_word, ()), _language)
_TELLING = frozenset(_BY_WORD)


def language_of(text: str, least: int = LEAST) -> str:
    """The language of a text; English where too few words tell."""
    return _language_of(text[:READ].lower(), least)


def marker(language: str) -> str:
    """The term under which passages in another language than English are indexed beside their words."""
    return MARK + language


@lru_cache(maxsize=512)  # a context looks at the same few passages several times
def _language_of(text: str, least: int) -> str:
    if not text.isascii():
        for language, script in _SCRIPTS.items():
            if len(script.findall(text)) > len(text) // 3:
                return ENGLISH if language == "arabic" and _PERSIAN_OR_URDU.search(text) else language
    words = set(text.translate(_LETTERS).split() if text.isascii() else _WORD.findall(text))
    counts = Counter(chain.from_iterable(map(_BY_WORD.__getitem__, words & _TELLING)))
    best = max(counts, key=lambda language: (counts[language], language == ENGLISH, language), default=ENGLISH)
    return best if counts[best] >= max(least, SHARE * len(words)) else ENGLISH
