// Texts, and times as texts. Lengths count characters (code points), as PostgreSQL and JSON Schema do.

const shownLength = "YYYY-MM-DDTHH:mm:ss.sssZ".length;
// Has no groups, because they would cost more than the match itself.
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

// Returns the time in milliseconds, or null if the text is not a UTC time of the years 1 to 9999. Finer fractions are truncated
// to milliseconds.
export function parseTime(text: string): number | null {
  if (!timePattern.test(text) || text.startsWith("0000")) return null;
  const ms = Date.parse(shownTime(text));
  // Date.parse reads 30 February as 2 March and 24:00 as the next day. Such times are rejected, because their day is not the one
  // written.
  return new Date(ms).getUTCDate() === Number(text.slice(8, 10)) ? ms : null;
}

// Formats a text that parseTime accepts as times are shown: to the millisecond.
export function shownTime(text: string): string {
  return text.length === shownLength ? text : `${text.slice(0, 19)}.${text.slice(20, -1).slice(0, 3).padEnd(3, "0")}Z`;
}

// Whether parseTime truncates the text. An exclusive upper bound must be rounded up instead.
export function isFinerThanMs(text: string): boolean {
  return /\.\d{3}0*[1-9]\d*Z$/.test(text);
}

// A change takes its time when it is requested. It may then wait for another that began later, or come from a machine whose clock
// is behind. A later change must never have an earlier time. Times of this form sort as text.
export function notBefore(last: string, now: string): string {
  return now < last ? last : now;
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

// Cuts between characters, never inside a surrogate pair. Most texts are short enough, and cutting took a fifth of the intake's
// time.
export function firstCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}

export function characters(text: string): number {
  let surrogates = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) surrogates++;
  }
  return text.length - surrogates;
}
