import { expect, test } from "vitest";
import { proveShort } from "./prove.ts";
import { tokens } from "./tokens.ts";
import { tryAttacks, type Attack } from "./tokens/attack.ts";
import { Scene } from "./tokens/scene.ts";

test("tokens: every attack is rejected and changes nothing", async () => {
  const figures = await proveShort(tokens);
  expect(Number(figures["attempts"])).toBeGreaterThan(300);
  expect(figures["sections of the RFCs"]).toMatch(/RFC 8725 2\.1.*RFC 9700 4\.4/);
});

function planted(name: string, attempt: Attack["attempt"]): Attack {
  return { name, source: "-", expected: "401 unauthorized", attempt };
}

test("tokens: detects an attack that gets in, one that changes something and one that breaks the valid token", async () => {
  const scene = await Scene.open();
  try {
    const { violations } = await tryAttacks(scene, [
      planted("gets in", async () => [await scene.call("GET", "/cases")]),
      planted("writes", async () => [await scene.call("PUT", "/enduseraccounts/a", { body: { is_blocked: true } })]),
      planted("asks the attacker for keys", async () => {
        await fetch(scene.attackerUrl);
        return [await scene.call("GET", "/cases", { token: "x" })];
      }),
      planted("revokes", async () => {
        await scene.call("DELETE", "/enduseraccounts/a");
        return [await scene.call("GET", "/cases", { token: "x" })];
      }),
    ]);
    expect(violations).toEqual([
      "gets in (-): got 200 without a problem, not 401 unauthorized",
      "writes (-): got 200 without a problem, not 401 unauthorized",
      "writes (-): something was changed",
      "asks the attacker for keys (-): something was changed",
      "revokes (-): something was changed",
      "after revokes the valid token got 200 and 404",
    ]);
  } finally {
    await scene.close();
  }
});
