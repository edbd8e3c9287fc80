import type { FieldError } from "./failure.ts";

// Passwords that attackers try first. The list was written for this file from common knowledge. Words and runs also cover their
// variants with other letter case, look-alike characters, digits and punctuation, so the list can be short.

const words =
  "password passwort passwd passphrase contrasena motdepasse senha parola wachtwoord haslo kennwort pass pwd welcome welcome2 willkommen " +
  "bienvenue letmein letme opensesame open sesame changeme change please default temp temporary temppass secret topsecret geheim " +
  "admin administrator root superuser sysadmin system sys user username guest test tester testing demo login logon signin access " +
  "account manager master server service support helpdesk office company corporate business security secure private public internal " +
  "hello hallo bonjour hola goodbye iloveyou loveyou ilove love lovely lover loveme iloveme forever friends friend family baby babygirl " +
  "princess prince queen king angel angels sunshine moonlight rainbow butterfly flower flowers chocolate cookie cheese banana orange " +
  "apple cherry summer winter spring autumn fall january february march april june july august september october november december " +
  "monday tuesday wednesday thursday friday saturday sunday football baseball basketball soccer hockey tennis golf liverpool chelsea " +
  "arsenal manchester united barcelona realmadrid juventus bayern dallas cowboys yankees lakers eagles steelers packers " +
  "superman batman spiderman ironman wolverine starwars startrek pokemon pikachu naruto matrix gandalf harrypotter hogwarts minecraft " +
  "fortnite nintendo playstation xbox google facebook twitter instagram whatsapp youtube amazon microsoft windows linux ubuntu " +
  "samsung android iphone internet computer laptop network database oracle cisco monkey dragon tiger lion eagle wolf bear horse mustang " +
  "shadow hunter ranger killer ninja samurai warrior soldier knight wizard phoenix thunder lightning storm fire freedom liberty america " +
  "american canada england london france germany deutschland berlin italia india pakistan mexico brasil brazil russia china japan " +
  "michael jennifer jessica ashley amanda daniel joshua matthew andrew thomas robert william charlie george jordan michelle nicole " +
  "elizabeth alexander alexandra christopher anthony benjamin samantha victoria maria patrick stephanie trustno trust nothing whatever " +
  "blink182 mustang corvette ferrari porsche mercedes harley yamaha honda jesus christ jesuschrist god heaven bible blessed faith " +
  "money dollar bitcoin crypto bank banking payment fraud mypassword mypass my the your our is for and you me im new old one two three " +
  "abc qwerty qwertz azerty asdf asdfgh zxcvbn qazwsx qaz wsx edc p@ssword pa55word";

// Long passwords that none of the rules below would find.
const phrases =
  "thequickbrownfox thequickbrownfoxjumps maytheforcebewithyou nevergonnagiveyouup tobeornottobe onceuponatime youshallnotpass " +
  "winteriscoming hakunamatata supercalifragilistic supercalifragilisticexpialidocious livelongandprosper elementarymydearwatson " +
  "houstonwehaveaproblem ihaveadream iamyourfather iamironman illbeback hastalavista hastalavistababy " +
  "showmethemoney wheresthebeef justdoit imlovinit thinkdifferent idontknow idontcare idontremember iforgotmypassword " +
  "iforgot forgotpassword rememberme donotforget dontforget nopassword nopasswordhere passwordispassword thisismypassword " +
  "thisisapassword thisisasecret thisissecret mysecretpassword mysecurepassword mynewpassword yourpassword enterpassword " +
  "insertpassword typepassword strongpassword securepassword verysecure verysecret supersecret supersecure superstrong ultrasecure " +
  "letmeinplease letmeinnow pleaseletmein openthedoor openthisdoor knockknock whoisthere whosthere abracadabra hocuspocus " +
  "iloveyousomuch iloveyouforever iloveyoubaby iloveyoumore ilovejesus ilovemyself ilovemydog ilovemycat ilovemymom ilovemydad " +
  "ilovemylife ilovemyfamily ilovemywife ilovemyhusband ilovemusic ilovefootball ilovepizza ilovechocolate lovelylovely " +
  "happybirthday merrychristmas happynewyear goodmorning goodnight goodluck haveaniceday helloworld hellokitty hellothere " +
  "everythingisok everythingisawesome dontworrybehappy keepcalmandcarryon carpediem alohomora expectopatronum wingardiumleviosa " +
  "mischiefmanaged dumbledore voldemort lordoftherings gameofthrones breakingbad walterwhite spongebob spongebobsquarepants " +
  "mickeymouse donaldduck tomandjerry bugsbunny scoobydoo hannahmontana justinbieber taylorswift michaeljackson metallica " +
  "ironmaiden linkinpark greenday nirvana slipknot redhotchilipeppers pinkfloyd ledzeppelin thebeatles rollingstones " +
  "manchesterunited manchestercity realmadrid barcelonafc fcbarcelona liverpoolfc chelseafc arsenalfc newcastle tottenham " +
  "unitedstates unitedkingdom newyorkcity losangeles sanfrancisco lasvegas california washington philadelphia " +
  "administrateur administrador administration rootpassword adminpassword adminadmin useruser testtest guestguest " +
  "companyname yourcompany mycompany ourcompany workstation helpdesk itsupport customerservice fraudteam frauddepartment investigator " +
  "investigation caseworker detective sherlockholmes jamesbond agent007 doubleoseven topgun maverick " +
  "oneringtorulethemall gandalfthegrey frodobaggins lukeskywalker darthvader obiwankenobi hansolo princessleia yodamaster " +
  "captainamerica blackpanther wonderwoman greenlantern incrediblehulk teenagemutantninjaturtles transformers powerrangers " +
  "pleasechangeme changemenow changeme123 changethis changethispassword changeit defaultpassword temporarypassword " +
  "whatisyourname whatsyourname myname mynameis whoami whoareyou nobodyknows nobody somebody everybody anonymous " +
  "godisgood godislove godisgreat jesusislord jesuslovesme jesussaves praisethelord inchallah inshallah mashallah allahuakbar " +
  "bismillah alhamdulillah onelove onelife onlyone lovelife lovehate lifeisgood lifeisbeautiful livelaughlove";

// Keyboard rows and sequences, in both directions.
const rows = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiop",
  "qwertzuiop",
  "azertyuiop",
  "asdfghjkl",
  "qsdfghjklm",
  "zxcvbnm",
  "yxcvbnm",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "qazwsxedcrfvtgbyhnujmikolp",
  "1a2b3c4d5e6f7g8h9i0j",
  "a1b2c3d4e5f6g7h8i9j0",
  "!@#$%^&*()_+",
  '!"§$%&/()=',
].flatMap((row) => [row, row.split("").toReversed().join("")]);

const commonWords = new Set(words.split(" "));
const commonPhrases = new Set(phrases.split(" "));

const runCharactersMin = 3;
const longRunMin = 6;
const wordCharactersMin = 2;
const wordCharactersMax = 24;
const repeatedCharactersMax = 8;
const distinctMin = 4;
// A few extra letters, digits or punctuation marks beside a common word do not make it safe.
const leftLettersMax = 3;
const freeOthersMax = 8;
// Several common words together are accepted as a passphrase.
const commonWordsMax = 2;

const lookAlikes: Record<string, string> = {
  "@": "a",
  "4": "a",
  "8": "b",
  "3": "e",
  "9": "g",
  "1": "i",
  "!": "i",
  "|": "l",
  "0": "o",
  "5": "s",
  $: "s",
  "7": "t",
  "+": "t",
};

type Owner = { email: string; name: string; tenant: string };

export function passwordFaults(field: string, password: string, owner: Owner): FieldError[] {
  if (!isCommonPassword(password, owner)) return [];
  return [
    { field, message: "is easily guessed. Choose several words that do not belong together and have nothing to do with you" },
  ];
}

// Whether an attacker would try the password early. That covers the most used passwords, keyboard rows, repetitions, and what is
// known about the person.
export function isCommonPassword(password: string, owner: Owner): boolean {
  const text = password.normalize("NFKC").toLowerCase();
  if (new Set(text).size < distinctMin || isRepeated(text)) return true;
  const own = ownWords(owner);
  const spellings = [text, unmasked(text, lookAlikes), unmasked(text, { ...lookAlikes, "1": "l" })];
  return spellings.some((each) => isPhrase(each) || isMadeOfCommon(each, text, own));
}

function unmasked(text: string, alike: Record<string, string>): string {
  return text.replaceAll(/./gsu, (character) => alike[character] ?? character);
}

function isPhrase(text: string): boolean {
  const letters = text.replaceAll(/[^\p{L}]/gu, "");
  return commonPhrases.has(letters);
}

function isRepeated(text: string): boolean {
  for (let length = 1; length <= Math.min(repeatedCharactersMax, text.length / 2); length++) {
    if (
      text ===
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .slice(0, text.length)
    )
      return true;
  }
  return false;
}

function ownWords({ email, name, tenant }: Owner): Set<string> {
  const parts = [email, name, tenant].flatMap((each) => each.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const whole = [email, name, tenant].map((each) => each.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ""));
  return new Set(["casehound", ...parts, ...whole].filter((each) => each.length >= runCharactersMin));
}

// Removes common words, runs and what is known about the person, longest first, and judges the rest.
function isMadeOfCommon(text: string, plain: string, own: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  const others = new Set<string>();
  let letters = 0;
  let isKnown = false;
  for (let at = 0; at < text.length;) {
    const ownLength = longestWord(text, at, own);
    const wordLength = longestWord(text, at, commonWords);
    const runLength = longestRun(plain, at);
    const length = Math.max(ownLength, wordLength, runLength);
    if (length > 0) {
      if (length === ownLength || (length === runLength && length >= longRunMin)) isKnown = true;
      else if (length === wordLength) seen.add(text.slice(at, at + length));
      at += length;
      continue;
    }
    const character = plain[at] ?? "";
    if (/[!-@[-`{-~]/.test(character)) others.add(character);
    else if (character !== " ") letters++;
    at++;
  }
  if (seen.size > commonWordsMax) return false;
  const free = seen.size > 0 || isKnown ? freeOthersMax : 0;
  return letters + Math.max(0, others.size - free) <= leftLettersMax;
}

function longestWord(text: string, at: number, among: ReadonlySet<string>): number {
  for (let length = Math.min(wordCharactersMax, text.length - at); length >= wordCharactersMin; length--) {
    if (among.has(text.slice(at, at + length))) return length;
  }
  return 0;
}

function longestRun(text: string, at: number): number {
  let length = 0;
  for (const row of rows) {
    while (
      at + Math.max(length + 1, runCharactersMin) <= text.length &&
      row.includes(text.slice(at, at + Math.max(length + 1, runCharactersMin)))
    ) {
      length = Math.max(length + 1, runCharactersMin);
    }
  }
  return length;
}
