import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { listSigningKeys } from "../../service/src/db/issuer.ts";
import type { Database } from "../../service/src/db/postgres/database.ts";

type Members = Record<string, unknown>;
export type Sign = (input: string) => Buffer;
// Everything needed to make the token that the issuer would make, and therefore every token that it would not.
export type Recipe = { header: Members; claims: Members; sign: Sign; privateKey: KeyObject; publicKey: KeyObject };

// The attacker's own key, of the same type as the issuer's.
export const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const foreignJwk = { ...foreign.publicKey.export({ format: "jwk" }), kid: "foreign", alg: "ES256", use: "sig" };

export function ecdsa(key: KeyObject, dsaEncoding: "ieee-p1363" | "der" = "ieee-p1363", hash = "sha256"): Sign {
  return (input) => sign(hash, Buffer.from(input), { key, dsaEncoding });
}

export const foreignSign = ecdsa(foreign.privateKey);
export const noSign: Sign = () => Buffer.alloc(0);

export function hmac(secret: string | Buffer, hash = "sha256"): Sign {
  return (input) => createHmac(hash, secret).update(input).digest();
}

export function encode(part: unknown): string {
  return encodeRaw(JSON.stringify(part));
}

export function encodeRaw(text: string | Buffer): string {
  return Buffer.from(text).toString("base64url");
}

function decode(part: string): Members {
  return JSON.parse(Buffer.from(part, "base64url").toString()) as Members;
}

export type Changes = { header?: Members; claims?: Members; sign?: Sign };

// The recipe's token with changes. Undefined members are left out.
export function make(recipe: Recipe, { header, claims, sign: how = recipe.sign }: Changes = {}): string {
  return seal(encode({ ...recipe.header, ...header }), encode({ ...recipe.claims, ...claims }), how);
}

export function seal(header: string, claims: string, how: Sign): string {
  return `${header}.${claims}.${how(`${header}.${claims}`).toString("base64url")}`;
}

// Built from a token that the service issued, and the key that signed it.
export async function recipeOf(database: Database, token: string): Promise<Recipe> {
  const [header = "", claims = ""] = token.split(".");
  const named = decode(header);
  const stored = (await listSigningKeys(database)).find(({ kid }) => kid === named["kid"]);
  if (!stored) throw new Error("the token's key is not in the database");
  const privateKey = createPrivateKey({ key: { ...stored.private_jwk }, format: "jwk" });
  return { header: named, claims: decode(claims), sign: ecdsa(privateKey), privateKey, publicKey: createPublicKey(privateKey) };
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function half(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex");
}

export function signatureOf(r: bigint, s: bigint): Buffer {
  return Buffer.concat([half(r), half(s)]);
}

export const curveOrder = order;

// Every ECDSA signature has a second form: (r, n - s) is valid if (r, s) is.
export function twinOf(token: string): string {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const s = BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  return `${header}.${claims}.${Buffer.concat([bytes.subarray(0, 32), half(order - s)]).toString("base64url")}`;
}

// The same bytes in another encoding: the last character has unused bits.
export function otherSpellingOf(token: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = letters.indexOf(token.at(-1) ?? "");
  return `${token.slice(0, -1)}${letters[last ^ 1]}`;
}
