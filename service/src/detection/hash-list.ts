import { hash } from "node:crypto";

// A set of names in one text, each as four characters of a hash with the tenant's key. The last used ones come last. With
// 64 names, one in 260,000 other names is mistaken for a member.
const characters = 4;

export function hashKey(name: string, key: string): string {
  return hash("sha256", `${key}list:${name}`, "base64url").slice(0, characters);
}

export function hasHash(list: string, wanted: string): boolean {
  for (let at = 0; at < list.length; at += characters) if (list.startsWith(wanted, at)) return true;
  return false;
}

// If there are too many, the one that was not used for the longest time is dropped.
export function withHash(list: string, added: string, most: number): string {
  const others: string[] = [];
  for (let at = 0; at < list.length; at += characters) {
    const each = list.slice(at, at + characters);
    if (each !== added) others.push(each);
  }
  return [...others, added].slice(-most).join("");
}

export function countHashes(list: string): number {
  return list.length / characters;
}
