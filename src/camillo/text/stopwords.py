"""Stop words of 27 languages, and the language that a handful of words seems to be in.

Tables are written here, casefolded, in NFC, with their accents; one string per language code.
Sets are made on first use. Function characters of Chinese, Japanese and Korean are a set of
their own, since those scripts are indexed by character. Deciding which words of a query are
dropped is left to tokens.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from unicodedata import normalize

__all__ = ["FUNCTION_CHARACTERS", "LANGUAGES", "is_stop", "language_of", "stop_words"]

FUNCTION_CHARACTERS = frozenset(
    "的了是在有和与就都而及着或把被让吗呢吧啊么也很这那个什はがをにのとでもへやかねよ을를은는의"
)
"""Characters that carry grammar rather than meaning; a query drops them when they stand alone."""

_TABLES = {
    "en": """
a about after again all also am an and any are as at be because been before being between both but
by can could did do does doing during each else ever few for from further had has have having he
her here hers herself him himself his how i if in into is it its itself just let like me might
more most much must my myself no nor not of off on once one only or other our ours ourselves out
over own please same shall she should so some such than that the their theirs them themselves then
there these they this those through to too under until up upon us very was we were what whatever
when where whether which while who whom whose why will with within without would yes you your
yours yourself yourselves may many don didn doesn isn aren wasn weren couldn wouldn shouldn hasn
haven hadn ain ll ve dont didnt doesnt isnt im ive
""",
    "de": """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist
da dadurch daher damit dann daran darauf darum das dass dein deine deinem deinen deiner dem den
denn der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch
ein eine einem einen einer eines er es etwas euch euer eure für gegen gibt habe haben hast hat
hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja
jede jedem jeden jeder jedes jene jetzt kann kannst kein keine keinem keinen keiner können könnte
machen man mehr mein meine meinem meinen meiner mich mir mit muss müssen nach nachdem nein nicht
nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie
sind so solche soll sollte sondern sonst über um und uns unser unsere unter vom von vor wann war
waren warum was wegen weil welche welchem welchen welcher welches wenn wer werde werden wie wieder
will wir wird wo wohin wurde wurden zu zum zur zwar zwischen
""",
    "fr": """
ai ainsi alors au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c car ce
ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment d dans de depuis des
donc dont du elle elles en encore entre es est et étaient était été être eu eux fait faire font il
ils j je jusque l la là le les leur leurs lors lui m ma mais me même mes moi moins mon n ne ni nos
notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi puis qu quand que quel
quelle quelles quels qui quoi s sa sans se sera ses si son sont sous suis sur t ta te tes toi ton
tous tout toute toutes très tu un une vers voici vos votre vous y
""",
    "es": """
a al algo algunas algunos ante antes aquel aquella aquellos aquí así aun aunque cada como cómo con
contra cual cuál cuando cuándo cuánto de del desde donde dónde dos durante e el él ella ellas
ellos en entre era eran eres es esa esas ese eso esos esta está están estar estas este esto estos
estoy fue fueron fui ha había han has hasta hay he hemos la las le les lo los más me mi mientras
mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco
por porque pues que qué quien quién quienes se sea ser si sí sido siempre sin sino sobre son soy
su sus también tan tanto te tengo tiene tienen todo todos tu tú tus un una unas uno unos usted y
ya yo
""",
    "it": """
a abbiamo ad agli ai al alla alle allo altri altro anche ancora avere aveva c che chi ci ciò come
con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello
dentro di dopo dove due e è ecco ed era erano essere fa fino fra già gli ha hai hanno ho i il in
io l la le lei li lo loro lui ma me mentre mi mia mie miei mio molto nè né negli nei nel nella
nelle nello no noi non nostra nostro o ogni oppure per perché perciò più poi però prima può qual
quale quali quando quanto quella quelle quelli quello questa queste questi questo qui sarà se sei
senza si sia siamo sono sopra sta stata stato su sua sue sugli sui sul sulla sulle suo suoi ti tra
tu tua tuo tutti tutto un una uno vi voi
""",
    "pt": """
a à ao aos aquela aquele aqui as às até com como da das de dela dele deles depois do dos e é ela
elas ele eles em então entre era eram essa esse esta está estão estar estava este estou eu foi for
foram fosse há isso isto já lá lhe lhes mais mas me mesmo meu meus minha minhas muito muitos na
não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos pode por
porque porquê qual quando quanto que quê quem são se seja sem ser seu seus só sob sobre sua suas
também te tem têm tenho ter teu tinha todo todos tu tua um uma umas uns você vocês vos
""",
    "nl": """
aan af al alle alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus
een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik
in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet na naar niet
niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw van veel voor
waar waarom wanneer want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zelf zich
zij zijn zo zonder zou
""",
    "sv": """
alla allt än är åt att av bara blev bli blir då de dem den denna deras dess dessa det detta dig
din dina ditt du efter ej eller en er era ert ett för från genom ha hade han hans har hela här
henne hennes hon honom hur i icke igen in ingen inom inte jag ju kan kunde man många med mellan
men mera mig min mina mitt mot mycket någon något några när nej ni nu och också om oss på så sådan
samma sedan sig sin sina sitt själv ska skall skulle som till under upp ut utan vad vår våra vara
varför varje vars vart vem vi vid vilka vilken vilket
""",
    "da": """
af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dine disse
dog du efter eller en end er et for fordi fra få ham han hans har havde have hende hendes her hos
hun hvad hvem hver hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ingen jeg jer jo kan kunne
man mange med meget men mellem mig min mine mit mod må når ned noget nogle nu og også om op os
over på sig sin sine skal skulle som så til ud under var vi vil ville vor være været
""",
    "no": """
alle at av bare ble bli blir både da de deg dem den denne der deres det dette din disse du eller
en enn er et ett etter for fordi fra før ha hadde han hans har hennes her hos hun hva hvem hver
hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen inn jeg eg kan kom kunne man mange med meg
mellom men min mot må når nei noe noen nå og også om opp oss over på seg si sin skal skulle slik
som så til ut uten var ved vi vil ville vår være vært
""",
    "fi": """
että ei eivät ehkä en et hän hänen häntä he heidän heille ilman itse ja jo joka jolla jonka jos
joskus jossa jota jotka juuri kaikki kanssa koska koskaan kuin kuinka kun kuten kyllä me meidän
meille mihin mikä miksi milloin millä minä minua minulla minulle minun missä mitä mitkä mukaan
mutta myös ne niiden niin nyt nuo ole olen olet oli olin olivat ollut olla olemme on onko ovat
paljon se sekä sen siellä siinä sillä sinä sinun sitä sitten tai tämä tämän tässä tätä te tuo vaan
vai vain vielä voi voin ympäri
""",
    "pl": """
a aby ale albo ani aż bardzo bez być był była było były bo by ci co coś czy czyli dla dlaczego do
gdy gdzie gdyż go i ich ile im inne innych ja jak jakie jako je jeden jednak jego jej jest jestem
jeszcze jeśli już każdy kiedy kogo kto która które którego której który których którzy lub ma mam
mi mnie może można mój moja na nad nam nas nasz nawet nic nich nie niego niej nim niż o od ona one
oni ono oraz pan po pod ponieważ poza przed przez przy raz są się sobie swoje ta tak także tam te
tego tej ten też to tobie tu tutaj twój ty tych tylko tym u w wam was we wiele więc wszystko
wszystkie z za ze że
""",
    "cs": """
a aby aj ale ani asi až bez bude budeme budou být byl byla byli bylo by co což či další do i já
jak jaké jako je jeho její jejich jen jenž ještě ji jí jich jim jiné již jsem jsi jsme jsou jste k
kam kde kdo kdy když ke která které kterého který kteří ku ma má mají mě mezi mi mít mne mnou můj
může my na nad nám nás náš ne nebo nebyl nechť nejsou nic není než nich o od on ona oni ono pak po
pod podle pokud pouze právě pro proč proto protože první před přes při s se si své svůj svých ta
tak také takže tam te tě ten tedy tento této tím to tohle toho tom tomto tu tuto tvůj ty tyto u už
v vám vás váš ve více však všechno vy z za zda zde ze že
""",
    "tr": """
acaba ama ancak artık asla aslında az bana bazı belki ben benden beni benim beri bile bir biraz
birçok biri birkaç birşey biz bize bizi bizim böyle bu buna bunda bundan bunlar bunu bunun burada
çok çünkü da daha dahi de defa değil diğer diye eğer en fakat gibi göre hâlâ hangi hatta hem henüz
hep hepsi her herkes hiç için ile ise işte kadar kendi kez ki kim kime kimse mı mi mu mü nasıl ne
neden nerede nereye niçin niye o olan olarak olduğu on ona ondan onlar onların onu onun orada oysa
öyle sadece sanki sen senin siz sizin sonra şey şimdi şöyle şu tüm ve veya var ya yani yine yok
zaten
""",
    "hu": """
a abban ahhoz aki akik akkor alatt amely amelyek amikor ami amit arra át az azért azok azon azt
aztán azzal be belül benne csak de e ebben egy egyes egyéb egyik együtt el elég ellen előtt és ez
ezek ezen ezért ezt ezzel fel felé ha hanem hiszen hogy hogyan hol ide így igen ill ilyen is itt
jó jól kell kellett ki kívül közben között le legyen lehet lenne lesz lett maga magát majd már más
másik meg mellett mert mi mikor milyen minden mindig mint mit mivel most nagyon ne nekem neki nem
néha nélkül nincs olyan ön össze ő ők őket pedig s saját sem semmi sok sokkal során szerint több
tovább úgy új utána után vagy vagyok valaki valami van vannak vele vissza viszont volna volt
voltak voltam
""",
    "ro": """
a abia acea aceasta această aceea acei aceia acel acela acele acest acesta aceste acestea acești
aceștia acolo acum ai aici al ale am ar are aș așa asupra atât au avea avem aveți ba ca că când
care cât către ce cel cele ceva chiar cine cinci cu cum cumva da dacă dar de deci deja deși despre
din după ea ei el ele era este eu există face fi fie fiecare fiind foarte fost iar îi îl îmi în
înainte încât încă între îți la le lor lui mai mea mei mele meu mi mie mult mulți ne nici niște
noi noștri nostru nu o or ori oricare pe pentru peste pot prea prin sa să sale sau se și sub sunt
suntem ta te toată toate tot toți tu un una unde unei unele unor unui vă voi vor vostru
""",
    "id": """
ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa banyak beberapa begitu belum
bisa boleh bukan dalam dan dapat dari daripada demikian dengan di dia hanya harus hingga ia ini
itu jadi jangan jika juga kalau kami kamu kapan karena kepada kita lagi lain lalu maka mana masih
mengapa mereka namun nya oleh pada paling para pernah pun saat saja sambil sampai sangat saya
sebagai sebelum sebuah secara sedang sehingga sejak seperti serta setelah setiap siapa sudah
supaya tanpa tapi telah tentang tetapi tidak untuk yaitu yang
""",
    "vi": """
ai bao bằng bị bởi các cái càng chỉ chưa chứ có cả của cũng cùng cho đã đang đây đâu để đến đều đó
được gì giữa hay hoặc hơn khi không khác là lại làm lên lúc mà mình mỗi một nào này nên nếu ngay
người nhất như nhưng những nữa ở phải qua ra rằng rất rồi sao sau sẽ sự tại theo thì thế trên
trong trước tôi từ từng và vẫn vào vậy về vì với vừa
""",
    "ca": """
a això al algun alguna als amb ara aquell aquella aquest aquesta aquests aquí cada com d de del
dels des després doncs dos durant e el ell ella ells els em en encara ens entre era eren és et
estat està estan fa ha han has hem hi ho i ja jo l la les li llavors m ma mateix més meu meva molt
molta molts n ni no nosaltres o on pel pels per perquè però perque poc podem pot puc qual quan
quant que què qui s sense ser seu seva si sobre som són sota t també tan te tenim tinc tot tots tu
un una unes uns va vaig van vosaltres
""",
    "ru": """
а без более больше бы был была были было быть в вам вас ваш вдруг ведь во вот все всегда всего
всех всю вы где да даже для до его ее ей ему если есть еще ж же за зачем здесь и из или им иногда
их к как какая какой какие когда кого который которая которые кто ли лучше меня мне много может
можно мой моя мы на над надо нас нашей наш не него нее ней нельзя нет ни нибудь никогда ним них
ничего но ну о об один он она они оно от очень перед по под почему после потом потому почти при
про раз с сам своей свой свою себе себя сейчас со так такой там тебя тем теперь то тогда того тоже
только том тот ты тут у уже хотя чего чем через что чтобы чуть эта эти это этого этой этом этот
эту я
""",
    "uk": """
а аби або але б без би був була були було бути в вам вас ваш весь вже ви від він вона вони воно
все всі втім где де для до є ж за завжди задля зі з із й його йому і інший їй її їм їх як яка який
які якого якщо кого коли котрий крім куди ледве лише між мене мені ми мій мого моя на навіть над
нам нас наш не нема неї ним них ні ніж ніколи ніхто ніщо ну о об один перед по під після поки про
проте саме свій свої себе собі також так там та такий те тебе тепер ти тим тих то тобі тоді той
тому тут у усі хоч хоча хто це цей цього ці цієї цим цих ця чи чий чого чому через щоб що ще я
""",
    "bg": """
а ако ала без беше би бил била били било в вас ваш ви вие все всеки всички във г ги го да дали до
докато е един една едно за защо защото и из или им има й как каква какво като кога когато кого
който която които къде към ли между ме мен ми много мога може му на над най не него нещо нея ни
ние никой но някой от още по под при с са само се сега си след сме със съм съм такъв там тази те
тези ти то това този той тя тук у че ще я
""",
    "el": """
αλλά αν ανάμεσα αντί από αργά αυτά αυτές αυτή αυτό αυτοί αυτός αυτών αφού για γιατί δε δεν διότι
εγώ εδώ εκεί εκείνη εκείνο εκείνος εμείς εμένα ένα έναν ένας εσείς εσύ έτσι έχει έχω έχουν ή ήταν
η θα ίδια ίδιο ίδιος ίσως και κάθε κάποια κάποιο κάποιος κατά κι μα με μέσα μετά μέχρι μη μην μία
μια μόνο μου μπορεί να ο οι όλα όλοι όμως όπως όταν ότι ου όχι παρά ποια ποιο ποιος πολύ που πού
πριν προς πως πώς σαν σας σε στη στην στης στο στον στους στα στις συ σύ τα την της τι τις το τον
του τους των ως είναι είμαι είσαι είχε εγω
""",
    "ar": """
في من على إلى الى عن مع هذا هذه ذلك تلك هؤلاء هو هي هم هن أنا انا نحن أنت انت أنتم الذي التي الذين
اللذان ما ماذا متى أين كيف لماذا هل كم أي كل بعض غير لا لم لن ليس ليست كان كانت كانوا يكون تكون قد
لقد سوف ثم أو او أم بل لكن حتى إذا اذا إن ان أن لأن كما مثل عند عندما بعد قبل بين تحت فوق منذ خلال
حول ضد أيضا ايضا هنا هناك كذلك فقط و ف ب ل منه منها عنه عليه عليها إليه فيه فيها له لها لهم به بها
""",
    "fa": """
از با به در و که را این آن برای تا بر هم یا اما اگر هر چه چرا چگونه کجا کی کدام من تو او ما شما
آنها ایشان است هست بود بودند باشد شد شده شود کرد کرده کند می نمی نیست های ها خود دیگر همه هیچ پس
نیز چون زیرا ولی مگر بدون درباره روی زیر پیش بعد قبل بین خیلی فقط هنوز وقتی چند یک آیا
""",
    "he": """
של את על עם אל אם או כי זה זאת זו הוא היא הם הן אני אתה אנחנו אתם אתן לא כן גם רק אבל אך כל מה מי
איך איפה מתי למה מדוע האם יש אין היה היתה הייתה היו יהיה להיות אשר כאשר בין אחרי לפני תחת ליד עד
מן כמו עוד כבר מאוד שלי שלך שלו שלה שלנו שלהם לי לך לו לה לנו להם אותו אותה אותם בו בה בהם כך לכן
אז שם פה כאן איזה איזו הזה הזאת
""",
    "hi": """
का के की को में से है हैं था थे थी हो होता होती होते हुआ हुई हुए और या पर भी यह ये वह वे इस इन उस
उन इसका इसके इसकी उसका उसके उसकी उनका उनके उनकी मैं हम तुम आप मेरा मेरी मेरे हमारा आपका आपके आपकी
तो ही न नहीं मत कि जो जब तब अब कब कहाँ कहां क्या कौन क्यों कैसे किस किसी कोई कुछ सब सभी एक अपना
अपनी अपने ने तक लिए साथ बाद पहले बहुत कर करना करता करती करते किया गया गई गए रहा रही रहे जा सकता
सकती सकते यदि लेकिन मगर फिर यहाँ वहाँ द्वारा
""",
}

LANGUAGES = tuple(_TABLES)
"""Codes of the languages that have a table; a tie between two goes to the earlier one."""

# Words of the other tables that an English sentence (or a piece of code) uses for a thing or an
# act. They are dropped only where the query is in their own language, and prove no language.
_ALSO_ENGLISH = """
ad af ai al ale alle alt ante ar au bare be ben bin bis biz bo by ca car care co com come comment
con cum dan de del den des die dig din dine dir do dog door dos dove du due dus ed eg el ellen em
en end era eram es et face fi fie font for fra ge go hade ham han hans has hat have hay hem her hi
hos hun ide ill im inn io ja je jest jo kan ki kim la las lei les li lo los ma man mange mas me
mein men met mi mie min mine mit mod mon most mot nad nam nas ned no non num nun ob on one op or os
over pan par pas per plus pod pot pour pro proto pun quale raz sa sale sans se sea sen sense si sig
sin sine so sob son sous soy sub sue sui sur ta tan te tem ten til to todo ton tot tout tu ud um un
van var vars vi vid vil vor vos want war was we will worden ya
"""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language code, each also without its accents; empty for an unknown code."""
    words = _words(language)
    return frozenset(words) | frozenset(map(_bare, words))


def is_stop(word: str, language: str = "en") -> bool:
    """Whether a casefolded NFC word is grammar: in the table of its language, in the English
    one, or in any other unless it is also an English word with a meaning of its own (`war`).
    """
    return word in stop_words(language) or word in _lanes()[0]


def language_of(words: Iterable[str]) -> str:
    """Code of the language with the most distinct stop words among casefolded words.

    English when nothing is found, on a tie with English, and when six or more words hold only
    one stop word. Pass at most 200 words: more prove no more.
    """
    words = list(words)
    known, lanes = _lanes()
    found = known.intersection(words)
    if not found:
        return "en"
    total = sum(map(lanes.__getitem__, found))
    hits = total.to_bytes(len(LANGUAGES), "little")
    most = max(hits)
    if most == 0 or (most == 1 and len(words) > 6):
        return "en"
    return LANGUAGES[hits.index(most)]


@cache
def _lanes() -> tuple[frozenset[str], dict[str, int]]:
    # One byte per language in one integer: adding the numbers of the words found counts the hits
    # of all languages at once.
    lanes: dict[str, int] = {}
    for index, language in enumerate(LANGUAGES):
        words = _words(language) - (_doubtful() if language != "en" else frozenset())
        lane = 1 << 8 * index
        for word in words.intersection(lanes):
            lanes[word] |= lane
        lanes.update(dict.fromkeys(words.difference(lanes), lane))
    return frozenset(lanes), lanes


@cache
def _doubtful() -> frozenset[str]:
    # Single letters as well: `e`, `o` or `y` is a variable or "vitamin c" more often than grammar.
    return frozenset(_ALSO_ENGLISH.split()) | frozenset(map(chr, range(0x61, 0x7B)))


def _words(language: str) -> frozenset[str]:
    # Casefolded here and not in the tables: in Greek that turns every final sigma.
    return frozenset(_TABLES.get(language, "").casefold().split())


def _bare(word: str) -> str:
    # Latin and Greek only: й without its breve is another letter, a vowel sign no accent.
    if word.isascii() or ord(word[0]) >= 0x400:
        return word
    return "".join(c for c in normalize("NFD", word) if not 0x300 <= ord(c) <= 0x36F)
