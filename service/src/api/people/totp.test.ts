import { expect, test } from "vitest";
import { newRecoveryCodes, recoveryCodeHash } from "./recovery-codes.ts";
import { base32, findTotpStep, newTotpSecret, totpCode, totpStep, totpUri } from "./totp.ts";

// The secret and the SHA-1 rows of RFC 6238, appendix B, cut to six digits.
const secret = Buffer.from("12345678901234567890");
test.each([
  [59, "287082"],
  [1111111109, "081804"],
  [1111111111, "050471"],
  [1234567890, "005924"],
  [2000000000, "279037"],
  [20000000000, "353130"],
])("totp: the code at %i s is that of RFC 6238", (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1000))).toBe(code);
});

test("totp: a code is accepted one step before and after its own, but not if its step or a later one was used", () => {
  const atMs = 1111111111_000;
  const step = totpStep(atMs);
  for (const near of [step - 1, step, step + 1])
    expect(findTotpStep(totpCode(secret, near), secret, { atMs, lastStep: 0 })).toBe(near);
  for (const far of [step - 2, step + 2]) expect(findTotpStep(totpCode(secret, far), secret, { atMs, lastStep: 0 })).toBeNull();
  expect(findTotpStep(totpCode(secret, step), secret, { atMs, lastStep: step })).toBeNull();
  expect(findTotpStep(totpCode(secret, step + 1), secret, { atMs, lastStep: step })).toBe(step + 1);
  for (const odd of ["", "05047", "0504711", "０５０４７１", "abcdef"])
    expect(findTotpStep(odd, secret, { atMs, lastStep: 0 })).toBeNull();
});

test("totp: the secret is base32 as apps read it, and the address names the tenant and the person", () => {
  expect(base32(secret)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(base32(newTotpSecret())).toMatch(/^[A-Z2-7]{32}$/);
  const uri = new URL(totpUri(secret, { email: "ada+1@shop.example", slug: "demo" }));
  expect(decodeURIComponent(uri.pathname)).toContain("Casehound (demo):ada+1@shop.example");
  expect(uri.searchParams.get("issuer")).toBe("Casehound (demo)");
});

test("recovery codes: ten different ones, read in any spelling, hashed for one person", () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  const owner = { tenant_id: "t", user_id: "u" };
  for (const code of codes) {
    expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(recoveryCodeHash(` ${code.toUpperCase().replaceAll("-", " ")} `, owner)).toEqual(recoveryCodeHash(code, owner));
    expect(recoveryCodeHash(code, { ...owner, user_id: "v" })).not.toEqual(recoveryCodeHash(code, owner));
  }
  expect(recoveryCodeHash("123456", owner)).toBeNull();
});
