// Ids, names and values come from outside. Some characters cannot be seen, and some reverse the text around them, so that one id
// looks like another. They are shown by their codes.
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
