"""About two hundred texts in many scripts, as notes, drawers and conversations, and what is asked.

For cases that compare engines: the corpus is the same every time, and small enough to be put anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from camillo.model import Memory, Origin, Place
from contract.specimens import drawer, memory

__all__ = ["QUERIES", "TEXTS", "corpus"]

TEXTS: dict[str, tuple[str, ...]] = {
    "harbour": (
        "The lighthouse lamp was replaced on a windy Tuesday in March.",
        "Our pilot boat leaves pier 4 at 05:40, never earlier than high water.",
        "The tide gauge at the old mole reads eleven centimetres too low.",
        "Harbour dues are paid per gross ton and collected by the office on Quay Street.",
        "A grey seal sleeps under the ferry ramp; nobody may chase it away.",
        "Cranes 2 and 3 share one fuse, so they must not start together.",
        "The fog horn answers twice when a cargo ship passes the outer buoy.",
        "Fuel for the rescue launch is kept in the red shed behind the sail loft.",
        "We decided to dredge the north basin again before the herring fleet comes.",
        "Mooring lines thinner than 40 millimetres are refused by the harbour master.",
        "The ferry timetable moved from paper to the website after the storm.",
        "Containers with lemons are inspected first, because they spoil.",
        "In winter the swing bridge is opened by hand, which takes nine minutes.",
        "The radio channel for the harbour office is 12, for emergencies 16.",
        "Two divers found the lost anchor of the schooner Marigold.",
        "Ropes, paint and lamp oil are ordered on the first Monday of the month.",
    ),
    "observatory": (
        "The dome motor overheats when the shutter is opened in frost.",
        "Exposure of the comet plates was set to ninety seconds.",
        "Saturn's rings were edge-on that summer, so we photographed its moons.",
        "The telescope's finder is two arc minutes off to the east.",
        "Calibration frames live in /data/flats and are made at dusk.",
        "Visitors come on the first clear Friday; they may not touch the eyepiece.",
        "The spectrograph slit had been closed since the earthquake.",
        "Night assistants write the log in pencil, because ink freezes.",
        "A meteor crossed the field during exposure 117 and ruined it.",
        "We move the queue of observations to Redis so that both domes share it.",
        "The catalogue numbers follow Messier, then the New General Catalogue.",
        "Liquid nitrogen for the camera is delivered on Wednesdays.",
        "Do not point the finder at the sun; the cross-hairs melt.",
        "The variable star faded by three magnitudes within a week.",
        "Seeing is best two hours before dawn, when the air is still.",
        "The sidereal clock loses four seconds a day.",
    ),
    "bakery": (
        "The sourdough starter is fed with rye flour at six and at eighteen hours.",
        "Oven two is ten degrees colder than its thermometer says.",
        "We stopped baking walnut bread when the price of walnuts doubled.",
        "Croissants rest overnight at four degrees before they are rolled.",
        "The flour mill delivers on Thursdays, unless the river floods.",
        "Salt is weighed, never measured with a spoon.",
        "The apprentice forgot the yeast and invented a flat bread that sells well.",
        "Marmalade buns need orange peel from the grocer on Mill Lane.",
        "Unsold loaves go to the shelter at a quarter past seven.",
        "The recipe for gingerbread lies in the third drawer, under the string.",
        "A wedding cake with five tiers does not fit through the back door.",
        "The steam valve must be shut before the oven door is opened.",
        "Butter from the new dairy melts too early for puff pastry.",
        "Till receipts are kept for ten years in the attic.",
    ),
    "code": (
        "def retry(times: int, pause: float) -> None:\n    \"\"\"Call again, with jitter.\"\"\"",
        "class HttpServerPool: def acquireConnection(self): return self._idle.popleft()",
        "SELECT count(*) FROM bookings WHERE cancelled_at IS NULL AND room_id = $1;",
        "Traceback: sqlite3.OperationalError: database is locked (busy_timeout was 0)",
        "fn parse_header(input: &str) -> Result<Header, ParseError> { todo!() }",
        "ERROR 0x80070005 while opening C:\\Users\\ann\\notes_2024.txt: access denied",
        "export const debounce = (run, wait_ms = 250) => { let timer; /* ... */ };",
        "pytest -n 2 --maxfail=1 tests/contract  # runs the store's contract",
        "git rebase --onto main feature~3 feature   # drop the three oldest commits",
        "The JSON schema forbids additionalProperties in every nested object.",
        "max_connections = 60 and shared_buffers = 32MB are enough for the tests",
        "TODO(ben): the regular expression r\"^\\d{4}-\\d{2}\" also matches 9999-99",
    ),
    "deutsch": (
        "Die Schlüssel zum Archiv liegen beim Hausmeister im Erdgeschoss.",
        "Straßenbahnen der Linie 7 halten wegen der Baustelle nicht am Rathausplatz.",
        "Das Gewächshaus wird ab Oktober auf zwölf Grad geheizt.",
        "Wir haben beschlossen, die Rechnungen nur noch elektronisch zu verschicken.",
        "Der Orgelbauer kommt im Frühjahr und stimmt die Pfeifen neu.",
        "Im Keller stehen vierzig Kisten mit unsortierten Glasnegativen.",
        "Die Fenster zur Nordseite müssen vor dem Winter gestrichen werden.",
        "Ohne Anmeldung darf niemand die Handschriften fotografieren.",
        "Das Rezept für Lebkuchen stammt von der Großmutter aus Nürnberg.",
        "Der Fahrradständer vor der Bäckerei wurde um drei Plätze erweitert.",
    ),
    "français": (
        "La clé de la cave est accrochée derrière la porte de la cuisine.",
        "Le déménagement de la bibliothèque aura lieu pendant les vacances d'été.",
        "Nous avons choisi le papier à grain fin pour les affiches.",
        "L'horloge de la gare avance de deux minutes depuis l'orage.",
        "Les élèves répètent la pièce le mercredi après-midi au gymnase.",
        "Le fromager ne vend plus de comté vieux de trois ans.",
        "Il faut arroser les orchidées avec de l'eau de pluie, jamais froide.",
        "Le vieux moulin a été restauré par une coopérative d'artisans.",
    ),
    "español": (
        "El tren nocturno a Sevilla ya no lleva coche restaurante.",
        "La contraseña del taller se cambia cada primer lunes del mes.",
        "Guardamos las semillas de tomate en sobres de papel, en un lugar seco.",
        "El niño dibujó un dragón azul en la pared del pasillo.",
        "La reunión sobre el presupuesto se aplazó hasta enero.",
        "Las campanas de la iglesia no suenan entre las dos y las cuatro.",
        "El faro de la isla funciona con energía solar desde hace un año.",
    ),
    "русский": (
        "Ключи от мастерской лежат в синем ящике у окна.",
        "Поезд до Казани отправляется с третьего пути в полночь.",
        "Мы решили перенести очередь задач в отдельную базу данных.",
        "Библиотека закрыта по понедельникам и в праздничные дни.",
        "Бабушка печёт пироги с капустой каждую субботу.",
        "Старый телескоп отремонтировали и снова установили под куполом.",
        "В подвале хранятся сорок ящиков со стеклянными негативами.",
        "Часы на башне отстают на четыре минуты.",
        "Река замёрзла рано, и паром больше не ходит.",
    ),
    "中文": (
        "仓库的钥匙放在门口左边第二个抽屉里。",
        "我们决定把任务队列迁移到新的数据库。",
        "图书馆周一闭馆，周末开放到晚上九点。",
        "灯塔的灯在三月的一个大风天更换了。",
        "面包店的酸面团每天早晚各喂一次。",
        "望远镜的寻星镜偏东两角分。",
        "渡船因为大雾停航，明天早上恢复。",
        "她最喜欢的茶是武夷山的大红袍。",
        "会议改到下周三下午三点，地点不变。",
        "旧照片的底片保存在地下室的四十个箱子里。",
        "春天种下的番茄七月就可以收获了。",
        "这座桥是一九三七年修建的，现在只供行人通行。",
    ),
    "日本語": (
        "倉庫の鍵は玄関の二番目の引き出しにあります。",
        "来週の会議は水曜日の午後三時に変更されました。",
        "灯台のランプは三月に交換した。",
        "パン屋の酵母は朝と夕方に小麦粉を足す。",
        "望遠鏡のファインダーが東に少しずれている。",
        "フェリーは濃霧のため欠航となった。",
        "古い写真のネガは地下室に保管されている。",
        "祖母のレシピでは生姜を多めに入れる。",
    ),
    "한국어": (
        "창고 열쇠는 현관 왼쪽 서랍에 있습니다.",
        "다음 주 회의는 수요일 오후 세 시로 바뀌었다.",
        "등대의 램프는 삼월에 교체되었다.",
        "도서관은 월요일에 문을 닫는다.",
        "할머니는 토요일마다 만두를 빚으신다.",
        "안개 때문에 배가 뜨지 않는다.",
        "작업 대기열을 새 데이터베이스로 옮기기로 했다.",
    ),
    "हिन्दी": (
        "गोदाम की चाबी दरवाज़े के पास दूसरी दराज़ में है।",
        "पुस्तकालय सोमवार को बंद रहता है।",
        "अगली बैठक बुधवार को तीन बजे होगी।",
        "दादी हर शनिवार को आम का अचार बनाती हैं।",
        "नदी में बाढ़ के कारण नाव नहीं चलेगी।",
    ),
    "ไทย": (
        "กุญแจโกดังอยู่ในลิ้นชักที่สองข้างประตู",
        "ห้องสมุดปิดทุกวันจันทร์",
        "ประชุมเลื่อนไปเป็นวันพุธบ่ายสามโมง",
        "เรือข้ามฟากหยุดวิ่งเพราะหมอกหนา",
    ),
    "العربية": (
        "مفتاح المخزن في الدرج الثاني قرب الباب.",
        "المكتبة مغلقة يوم الاثنين.",
        "تم تأجيل الاجتماع إلى يوم الأربعاء.",
        "توقفت العبّارة بسبب الضباب الكثيف.",
    ),
    "ελληνικά": (
        "Το κλειδί της αποθήκης βρίσκεται στο δεύτερο συρτάρι.",
        "Η βιβλιοθήκη είναι κλειστή τη Δευτέρα.",
        "Το φέρι δεν ταξιδεύει λόγω ομίχλης.",
    ),
    "עברית": (
        "המפתח למחסן נמצא במגירה השנייה ליד הדלת.",
        "הספרייה סגורה ביום שני.",
        "הפגישה נדחתה ליום רביעי בשעה שלוש.",
    ),
    "signs": (
        "100% of the _wild_ cards * are \"just\" signs; O'Brien said: it's 50/50.",
        "naïve café, Ångström, smörgåsbord, Łódź, İstanbul, Việt Nam, ﬁne ligature",
        "🦭 a seal, 👩‍👩‍👧‍👦 a family, 🇩🇪 a flag, ☕️ and ½ a cup",
        "C++ and C# are not C; .NET, node.js, F#, Objective-C; e-mail me@example.org",
    ),
}  # fmt: skip

QUERIES = (
    "when was the lighthouse lamp replaced",
    "lighthouse",
    "pilot boat high water pier",
    "why did we move the queue to redis",
    "sourdough starter rye",
    "oven temperature thermometer wrong",
    "gingerbread recipe drawer",
    "which radio channel for emergencies",
    "database is locked busy_timeout",
    "acquireConnection",
    "how do I drop the oldest commits",
    "max_connections shared_buffers",
    "keys to the archive",
    "Schlüssel Archiv Hausmeister",
    "Straßenbahn Linie 7",
    "clé de la cave",
    "contraseña del taller",
    "ключи от мастерской",
    "очередь задач база данных",
    "стеклянные негативы",
    "仓库钥匙在哪里",
    "茶",
    "任务队列 数据库",
    "会議 水曜日",
    "倉庫の鍵",
    "창고 열쇠",
    "도서관 월요일",
    "पुस्तकालय सोमवार",
    "ห้องสมุดปิด",
    "المكتبة",
    "κλειδί αποθήκης",
    "ספרייה סגורה",
    'O\'Brien 100% "just" _wild_ *',
    "🦭",
    "C++ node.js",
    "comet exposure ninety seconds and the walnut bread of the bakery near the ferry",
)


def corpus() -> list[Memory]:
    """Every text as a note, as a drawer of a file and as a message, in turns, and some that are
    long, equal, archived, of another session or of another namespace."""
    return [*_turns(), *_long(), *_twins(), *_aside()]


def _turns() -> Iterator[Memory]:
    day = 0
    for wing, texts in TEXTS.items():
        for number, text in enumerate(texts):
            day += 1
            date = f"2024-{day % 12 + 1:02}-{day % 28 + 1:02}"
            if number % 3 == 0:
                title = " ".join(text.split()[:4])
                place = Place(wing, "notes")
                yield memory(f"{wing}-{number}", text, title=title, place=place, happened_at=date)
            elif number % 3 == 1:
                yield drawer(f"{wing}/{number % 2}.md", number, text, happened_at=date)
            else:
                yield memory(
                    f"said-{wing}-{number}", text, kind="drawer", session=f"talk {wing}",
                    place=Place(wing), origin=Origin(f"talk {wing}", number), happened_at=date,
                )  # fmt: skip


def _long() -> Iterator[Memory]:
    """Notes of several passages."""
    for wing in ("harbour", "observatory", "русский", "中文"):
        body = "\n\n".join(text * 2 for text in TEXTS[wing])
        yield memory(f"all-{wing}", body, kind="reference", title=wing, summary="all of it")


def _twins() -> Iterator[Memory]:
    """Equal texts in several files."""
    for source in ("copy/one.md", "copy/two.md"):
        for number, text in enumerate(TEXTS["bakery"][:3]):
            yield drawer(source, number, text)


def _aside() -> Iterator[Memory]:
    """What a search without a filter does not see, or sees once more."""
    lamp = TEXTS["harbour"][0]
    yield memory("archived", lamp + " Archived.", archived=1_700_000_000_000)
    yield memory("tenant", lamp + " Another tenant's.", namespace="tenant")
    yield memory("project", lamp + " The project's.", scope="project")
    yield memory("rule", "Always say where the lighthouse lamp is kept.", kind="rule", pinned=True)
