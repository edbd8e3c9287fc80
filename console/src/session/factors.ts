import { ask } from "./session.ts";

export type Passkey = { passkey_id: string; name: string; created_at: string; last_used_at: string | null };
export type Factors = {
  totp: { added_at: string } | null;
  passkeys: Passkey[];
  // Whether the service has a domain name, which passkeys need.
  can_add_passkeys: boolean;
  recovery_codes_left: number;
  is_required: boolean;
};
export type AppSecret = { secret: string; uri: string; qr: { size: number; rows: string[] } };
type Codes = { recovery_codes: string[] };

export function readFactors(): Promise<Factors> {
  return ask<Factors>("/auth/second-factors");
}

// The secret counts once a code of the app has confirmed it.
export function beginApp(password: string, csrfToken: string): Promise<AppSecret> {
  return ask<AppSecret>("/auth/totp", { method: "POST", body: { password }, csrfToken });
}

export async function confirmApp(code: string, csrfToken: string): Promise<string[]> {
  return (await ask<Codes>("/auth/totp/confirm", { method: "POST", body: { code }, csrfToken })).recovery_codes;
}

export async function removeApp(password: string, csrfToken: string): Promise<void> {
  await ask("/auth/totp/remove", { method: "POST", body: { password }, csrfToken });
}

export async function renewCodes(password: string, csrfToken: string): Promise<string[]> {
  return (await ask<Codes>("/auth/recovery-codes", { method: "POST", body: { password }, csrfToken })).recovery_codes;
}
