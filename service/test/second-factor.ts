import { expect } from "vitest";
import { totpCode, totpStep } from "../src/api/people/totp.ts";
import { goodPassword, type Browser } from "./people.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// An authenticator app that was given the secret as text.
export class App {
  readonly #secret: Buffer;

  constructor(typed: string) {
    const bits = Array.from(typed, (letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
    this.#secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  }

  codeAt(atMs: number): string {
    return totpCode(this.#secret, totpStep(atMs));
  }
}

// Sets up an app for the person, and returns it with the recovery codes.
export async function addApp(browser: Browser, atMs: number, password = goodPassword): Promise<{ app: App; codes: string[] }> {
  const begun = await browser.ask("POST", "/auth/totp", { body: { password } });
  expect(begun.status, begun.text).toBe(200);
  const app = new App((begun.json as unknown as { secret: string }).secret);
  const confirmed = await browser.ask("POST", "/auth/totp/confirm", { body: { code: app.codeAt(atMs) } });
  expect(confirmed.status, confirmed.text).toBe(200);
  return { app, codes: (confirmed.json as unknown as { recovery_codes: string[] }).recovery_codes };
}
