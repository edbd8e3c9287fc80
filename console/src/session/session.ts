import { ProblemError, type Problem, type Role } from "@casehound/client";

export type Session = {
  user: { user_id: string; email: string; name: string; role: Role };
  tenant: { tenant_id: string; slug: string };
  csrf_token: string;
  scopes: string[];
  expires_at: string;
  // Anything read from now on includes all events up to this one.
  last_event_id: number;
};

export type SignInOptions = { oidc: { name: string } | null };
export type LinkFacts = {
  purpose: "set-up" | "invitation" | "password-reset";
  tenant: string;
  // Null for a set-up link, because the person is not known yet.
  email: string | null;
  name: string | null;
};
export type LinkUse = { email?: string; name?: string; password: string };
export type SignIn = { kind: "signed-in"; session: Session } | { kind: "which-tenant"; tenants: string[] };

// The person's endpoints. They come before the API and need no tenant.
export async function readSession(): Promise<Session | null> {
  const response = await fetch("/auth/session", { headers: { accept: "application/json" } });
  return response.status === 401 ? null : answerOf<Session>(response);
}

export function readOptions(): Promise<SignInOptions> {
  return ask<SignInOptions>("/auth/options");
}

// Several tenants may know one e-mail address. The service then returns those for which the password is valid.
export async function signIn(given: { email: string; password: string; tenant?: string }): Promise<SignIn> {
  const response = await send("/auth/sign-in", { method: "POST", body: given });
  if (response.status === 422) {
    const tenants = tenantsOf(parse(await response.clone().text()));
    if (tenants) return { kind: "which-tenant", tenants };
  }
  return { kind: "signed-in", session: await answerOf<Session>(response) };
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

// This also signs the person in.
export async function redeemLink(token: string, given: LinkUse): Promise<void> {
  await ask("/auth/link/use", { method: "POST", body: { token, ...given } });
}

export const oidcPath = "/auth/oidc";

type Asked = { method?: string; body?: unknown; csrfToken?: string };

function send(path: string, { method = "GET", body, csrfToken }: Asked): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (csrfToken !== undefined) headers["x-csrf-token"] = csrfToken;
  return fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
}

async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
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
