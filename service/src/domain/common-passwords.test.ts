import { expect, test } from "vitest";
import { isCommonPassword } from "./common-passwords.ts";
import { passwordCharacters } from "./user.ts";

const owner = { email: "ada.lovelace@shop.example", name: "Ada Lovelace", tenant: "northwind-shop" };

// The top of every list of leaked passwords. Most are too short, so people lengthen them in these ways.
const top =
  "password 123456789 qwerty qwertyuiop abc123 iloveyou welcome letmein admin administrator monkey dragon sunshine princess football " +
  "baseball master superman batman trustno1 starwars shadow michael jordan hello freedom whatever secret changeme login passw0rd p@ssword " +
  "p@ssw0rd summer winter spring autumn december liverpool chelsea arsenal barcelona juventus pokemon minecraft google facebook samsung " +
  "computer internet charlie jennifer michelle ashley daniel thomas robert william jessica nicole mustang ferrari mercedes banana cheese " +
  "chocolate butterfly flower angel family forever money killer hunter ranger ninja phoenix thunder orange matrix";
const suffixes = [
  "1",
  "12",
  "123",
  "1234",
  "12345",
  "123456",
  "!",
  "1!",
  "123!",
  "2024",
  "2025",
  "2025!",
  "@123",
  "#1",
  "1990",
  "007",
];

function lengthened(word: string): string[] {
  const capital = `${word[0]?.toUpperCase()}${word.slice(1)}`;
  const ends = suffixes.flatMap((suffix) => [`${word}${suffix}`, `${capital}${suffix}`, `${word}_${suffix}`]);
  return [word, `${word}${word}`, `${capital}${capital}`, ...ends, ...suffixes.map((prefix) => `${prefix}${word}`)];
}

const isLong = (password: string) => password.length >= passwordCharacters.min;
const common = [...new Set(top.split(" ").flatMap(lengthened).filter(isLong))];

test("common passwords: recognizes more than a thousand variants of the most used ones", () => {
  expect(common.length).toBeGreaterThan(1_000);
  expect(common.filter((password) => !isCommonPassword(password, owner))).toEqual([]);
});

test.for([
  "123456789012",
  "1234567890123",
  "0987654321098",
  "qwertyuiopasdf",
  "QWERTYUIOP123",
  "1q2w3e4r5t6y",
  "1qaz2wsx3edc",
  "qazwsxedcrfv",
  "zxcvbnm,./123",
  "abcdefghijkl",
  "abcd1234abcd1234",
  "abc123abc123",
  "aaaaaaaaaaaa",
  "ababababababab",
  "1111111111111",
  "hunter2hunter2",
  "xk7xk7xk7xk7xk7",
  "P@$$w0rd2025!",
  "Pa55word-2025",
  "W3lcome!2025",
  "passwordpassword",
  "Password Password",
  "admin@admin123",
  "rootroot1234",
  "testtest1234",
  "changeme-please!",
  "Welcome1Welcome1",
  "letmeinletmein",
  "iloveyou12345",
  "thequickbrownfox",
  "The Quick Brown Fox!",
  "maytheforcebewithyou",
  "To be or not to be?",
  "Summer2025!!",
  "Winter-2025-Winter",
  "December2025",
  "Manchester United 1",
  "thisismypassword",
  "MySecretPassword1",
  "!@#$%^&*()_+",
  "password!!!!!!!!!!!!!!!!",
  "password84719264018273",
])("common passwords: recognizes %s", (password) => {
  expect(isLong(password)).toBe(true);
  expect(isCommonPassword(password, owner)).toBe(true);
});

test.for([
  "ada.lovelace@shop.example",
  "ADA.LOVELACE1",
  "adalovelace2025",
  "Ada Lovelace!",
  "LovelaceAda12",
  "northwind-shop",
  "NorthwindShop1",
  "northwind1234!",
  "casehound1234",
  "Casehound!2025",
  "c4seh0und-shop",
  "casehoundcasehound",
  "shop.example.1",
  "lovelacecasehound",
])("common passwords: recognizes %s, which is made of what anybody knows about the person", (password) => {
  expect(isCommonPassword(password, owner)).toBe(true);
});

test.for([
  "correct horse battery staple",
  "another horse, another battery",
  "a password of their own",
  "another good password",
  "vKq8-2mzT-x0Lp",
  "tractor velvet onion",
  "the rain in my old garden",
  "dGhpcyBpcyBub3QgY29tbW9u",
  "493817265049",
  "~#?;}|.'>=,<",
  "\u{1f600}\u{1f436}\u{1f680}\u{1f335}\u{1f3b8}\u{1f9ed}\u{1f9ca}",
  "Ada likes purple trams",
  "größere Wörter helfen",
  "カスタムパスワードです今日",
  "dragon cheese liverpool thunder",
])("common passwords: accepts %s", (password) => {
  expect(isCommonPassword(password, owner)).toBe(false);
});

test("common passwords: odd texts of up to the maximum length are checked without hanging", () => {
  const odd = [
    "a".repeat(256),
    "ab1".repeat(85),
    "password".repeat(32),
    "\u{1f600}".repeat(128),
    "é\u0301".repeat(85),
    "%".repeat(256),
  ];
  for (const text of odd) expect(typeof isCommonPassword(text, owner)).toBe("boolean");
  expect(isCommonPassword("x", { email: "", name: "", tenant: "" })).toBe(true);
});
