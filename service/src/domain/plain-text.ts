import { firstCharacters } from "./text.ts";

// Characters that break lines, reorder text or are not drawn.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

// What mail and chat programs turn into a link: "://", and the dot before a name such as "com".
const linking = /:(?=\/\/)|(?<=[\p{L}\p{N}])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}-]*\p{L})/gu;
// Many account ids are e-mail addresses. A link from one only starts a new e-mail.
const addressPattern = /^(?!www\.)[\w.+-]+@[\w.-]+$/i;

// Makes a text from outside fit for one line of a message: invisible characters are shown by their number, nothing becomes a link,
// and a long text is cut.
export function plainText(text: string, charactersMax = 100): string {
  const shown = text.replaceAll(unseen, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`);
  const dull = addressPattern.test(shown) ? shown : shown.replaceAll(linking, "[$&]");
  const first = firstCharacters(dull, charactersMax);
  return first.length < dull.length ? `${first}…` : dull;
}
