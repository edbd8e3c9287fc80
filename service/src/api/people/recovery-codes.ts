import { hash, randomBytes } from "node:crypto";

const recoveryCodesCount = 10;

// Letters and digits that are hard to mistake for each other.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const characters = 16;

type Owner = { tenant_id: string; user_id: string };

// Codes of 80 random bits. Nobody can guess them, so a fast hash is enough.
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesCount }, () => {
    const text = Array.from(randomBytes(characters), (byte) => alphabet[byte & 31]).join("");
    return (text.match(/.{4}/g) ?? []).join("-");
  });
}

// Returns null if the text cannot be a recovery code. Spaces, hyphens and letter case do not matter.
export function recoveryCodeHash(typed: string, { tenant_id, user_id }: Owner): Buffer | null {
  const plain = typed.replaceAll(/[\s-]/g, "").toLowerCase();
  const isCode = plain.length === characters && plain.split("").every((letter) => alphabet.includes(letter));
  return isCode ? hash("sha256", `recovery ${tenant_id} ${user_id} ${plain}`, "buffer") : null;
}
