import { execFileSync } from "node:child_process";
import { signIdentity } from "@casehound/client";
import { afterEach, expect, test, vi } from "vitest";
import { identityCheck } from "../src/api/tokens/identity-token.ts";
import { blocksOf } from "./guide.ts";

afterEach(() => {
  vi.useRealTimers();
});

type Vector = { secret: string; expiry: number; pairs: { accountId: string; token: string }[] };

function vectorOf(): Vector {
  const text = blocksOf("signed-identity", "text").find((block) => block.includes("idsec_")) ?? "";
  const values = (name: string) => [...text.matchAll(new RegExp(`^${name} +(.+)$`, "gm"))].map(([, value = ""]) => value);
  const [secret = ""] = values("secret");
  const tokens = values("token");
  const pairs = values("account id").map((accountId, index) => ({ accountId, token: tokens[index] ?? "" }));
  return { secret, expiry: Number(values("expiry")[0]), pairs };
}

const vector = vectorOf();
const lines = vector.pairs.map(({ token }) => token).join("\n");

test("identity guide: the collector accepts each token of the test vector for its own account only", () => {
  const check = identityCheck([vector.secret], new Date((vector.expiry - 60) * 1000).toISOString());
  expect(vector.pairs).toHaveLength(2);
  for (const { accountId, token } of vector.pairs) {
    expect(check(token, accountId)).toBe("signed");
    expect(check(token, `${accountId}x`)).toBe("bad-token");
  }
});

test("identity guide: the client signs the test vector", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: (vector.expiry - 3600) * 1000 });
  const { secret } = vector;
  for (const { accountId, token } of vector.pairs) expect(await signIdentity(accountId, { secret })).toBe(token);
  vi.setSystemTime((vector.expiry - 24 * 3600) * 1000);
  const longest = { secret, expiresInSeconds: 24 * 3600 };
  for (const { accountId, token } of vector.pairs) expect(await signIdentity(accountId, longest)).toBe(token);
});

// The call as untyped JavaScript could make it.
const ask = (accountId: unknown, options: unknown) => signIdentity(accountId as string, options as { secret: string });

test("identity guide: the client rejects what the service would reject", async () => {
  const secret = "idsec_x";
  for (const accountId of ["", undefined, null, 7]) await expect(ask(accountId, { secret })).rejects.toThrow("account id");
  for (const wrong of ["", undefined, 7]) await expect(ask("a", { secret: wrong })).rejects.toThrow("secret");
  for (const expiresInSeconds of [0, -1, 24 * 3600 + 1, Number.NaN, Infinity, "soon"])
    await expect(ask("a", { secret, expiresInSeconds })).rejects.toThrow(RangeError);
});

test("identity guide: its Node code signs the test vector", () => {
  const code = blocksOf("signed-identity", "js").find((block) => block.includes("createHmac"));
  const calls = vector.pairs.map(({ accountId }) => JSON.stringify([accountId, vector.secret, vector.expiry]));
  const program = `${code}\n${calls.map((args) => `console.log(signIdentity(...${args}));`).join("\n")}`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-"], { input: program, encoding: "utf8" });
  expect(printed.trim()).toBe(lines);
});

test("identity guide: its Python code signs the test vector", () => {
  const [code = ""] = blocksOf("signed-identity", "python");
  const calls = vector.pairs.map(({ accountId }) => JSON.stringify([accountId, vector.secret, vector.expiry]));
  const program = `${code}\n${calls.map((args) => `print(sign_identity(*${args}))`).join("\n")}`;
  expect(execFileSync("python3", ["-"], { input: program, encoding: "utf8" }).trim()).toBe(lines);
});
