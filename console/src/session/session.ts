import { ProblemError, type Problem } from "@casehound/client";

export type Session = {
  user: { user_id: string; email: string; name: string; role: string };
  tenant: { tenant_id: string; slug: string };
  csrf_token: string;
  scopes: string[];
  expires_at: string;
  // The tenant requires a second factor, and this person has none. The API refuses everything until they have added one.
  must_add_second_factor: boolean;
  // Anything read from now on includes all events up to this one.
  last_event_id: number;
};

export type OfferedIssuer = { tenant: string; issuer_key: string; name: string };
export type SignInOptions = { oidc: { name: string } | null; issuers: OfferedIssuer[]; passkeys: boolean };
export type LinkFacts = {
  purpose: "set-up" | "invitation" | "password-reset";
  tenant: string;
  // Null for a set-up link, because the person is not known yet.
  email: string | null;
  name: string | null;
};
export type LinkUse = { email?: string; name?: string; password: string };
export type FactorKind = "totp" | "passkey" | "recovery-code";
export type Entry = { kind: "signed-in"; session: Session } | { kind: "second-factor"; kinds: FactorKind[] };
export type SignIn = Entry | { kind: "which-tenant"; tenants: string[] };

// The person's endpoints. They come before the API and need no tenant.
export async function readSession(): Promise<Session | null> {
  const response = await fetch("/auth/session", { headers: { accept: "application/json" } });
  return response.status === 401 ? null : answerOf<Session>(response);
}

export function readOptions(tenant: string | undefined): Promise<SignInOptions> {
  return ask<SignInOptions>(`/auth/options${tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`}`);
}

// Several tenants may know one e-mail address. The service then returns those for which the password is valid.
export async function signIn(given: { email: string; password: string; tenant?: string }): Promise<SignIn> {
  const response = await send("/auth/sign-in", { method: "POST", body: given });
  if (response.status === 422) {
    const tenants = tenantsOf(parse(await response.clone().text()));
    if (tenants) return { kind: "which-tenant", tenants };
  }
  return entryOf(await answerOf(response));
}

// The service either opens a session, or asks for a second factor.
function entryOf(answer: Session | { second_factor: { kinds: FactorKind[] } }): Entry {
  return "second_factor" in answer
    ? { kind: "second-factor", kinds: answer.second_factor.kinds }
    : { kind: "signed-in", session: answer };
}

// The browser has a cookie that says whose password was right.
export function giveSecondFactor(code: string): Promise<Session> {
  return ask<Session>("/auth/second-factor", { method: "POST", body: { code } });
}

export async function signOut(csrfToken: string): Promise<void> {
  await ask("/auth/sign-out", { method: "POST", csrfToken });
}

export async function signOutEverywhere(csrfToken: string): Promise<void> {
  await ask("/auth/sign-out-everywhere", { method: "POST", csrfToken });
}

export async function changePassword(given: { current: string; new: string }, csrfToken: string): Promise<void> {
  await ask("/auth/password", { method: "POST", body: given, csrfToken });
}

// The token is sent in the body, because URLs end up in access logs.
export function readLink(token: string): Promise<LinkFacts> {
  return ask<LinkFacts>("/auth/link", { method: "POST", body: { token } });
}

// This also signs the person in, unless they have a second factor.
export async function redeemLink(token: string, given: LinkUse): Promise<Entry> {
  return entryOf(await ask("/auth/link/use", { method: "POST", body: { token, ...given } }));
}

export const oidcPath = "/auth/oidc";

export function issuerPath({ tenant, issuer_key }: Pick<OfferedIssuer, "tenant" | "issuer_key">): string {
  return `${oidcPath}/${tenant}/${issuer_key}`;
}

type Asked = { method?: string; body?: unknown; csrfToken?: string };

function send(path: string, { method = "GET", body, csrfToken }: Asked): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (csrfToken !== undefined) headers["x-csrf-token"] = csrfToken;
  return fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}

export async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
  return answerOf<T>(await send(path, asked));
}

// After too many attempts, the retry-after header says how long to wait. Add that to the message.
async function answerOf<T>(response: Response): Promise<T> {
  const answer = parse(await response.text());
  // The service returns exactly the types above.
  if (response.ok) return answer as T;
  const problem = isProblem(answer) ? answer : unknownProblem(response.status);
  const seconds = Number(response.headers.get("retry-after") ?? "0");
  const wait = response.status === 429 && seconds > 0 ? ` Try again in ${waitWords(seconds)}.` : "";
  throw new ProblemError({ ...problem, detail: `${problem.detail}${wait}` });
}

function waitWords(seconds: number): string {
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function tenantsOf(answer: unknown): string[] | null {
  const isListed = typeof answer === "object" && answer !== null && "tenants" in answer && Array.isArray(answer.tenants);
  return isListed ? (answer.tenants as unknown[]).map(String) : null;
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === "object" && answer !== null && "detail" in answer && "status" in answer;
}

function unknownProblem(status: number): Problem {
  const detail = "The service could not be reached.";
  return { type: "bad-gateway", title: "Bad gateway", status, detail, errors: null };
}
