import { ProblemError, type Problem } from "@casehound/client";

export type Session = {
  user: { user_id: string; email: string; name: string; role: "investigator" | "lead" | "admin" };
  tenant: { tenant_id: string; slug: string };
  csrf_token: string;
  scopes: string[];
};

export type SignInMethods = { password: boolean; oidc: { name: string } | null };
export type LinkFacts = { purpose: string; email: string; tenant: string };

// The person's side of the service: what stands before the API and needs no tenant.
export async function readSession(): Promise<Session | null> {
  const response = await fetch("/auth/session", { headers: { accept: "application/json" } });
  return response.status === 401 ? null : answerOf<Session>(response);
}

export function readMethods(): Promise<SignInMethods> {
  return ask<SignInMethods>("/auth/methods");
}

export function signIn(given: { email: string; password: string; tenant?: string }): Promise<Session> {
  return ask<Session>("/auth/sign-in", { method: "POST", body: given });
}

export async function signOut(csrfToken: string): Promise<void> {
  await ask("/auth/sign-out", { method: "POST", body: {}, csrfToken });
}

export function readLink(token: string): Promise<LinkFacts> {
  return ask<LinkFacts>(`/auth/links/${encodeURIComponent(token)}`);
}

export async function redeemLink(token: string, given: { name?: string; password: string }): Promise<void> {
  await ask(`/auth/links/${encodeURIComponent(token)}`, { method: "POST", body: given });
}

export const oidcPath = "/auth/oidc";

type Asked = { method?: string; body?: unknown; csrfToken?: string };

async function ask<T>(path: string, { method = "GET", body, csrfToken }: Asked = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (csrfToken !== undefined) headers["x-csrf-token"] = csrfToken;
  const response = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  return answerOf<T>(response);
}

// Too many attempts: how long to wait is in a header, and belongs into the words.
async function answerOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  const answer = text === "" ? null : parse(text);
  // The contract's shape; whether it is wrapped as the API's answers are is the service's choice.
  if (response.ok) return (isWrapped(answer) ? answer.data : answer) as T;
  const problem = isProblem(answer) ? answer : unknownProblem(response.status);
  const seconds = response.headers.get("retry-after");
  const wait = response.status === 429 && seconds !== null ? ` Try again in ${seconds} s.` : "";
  throw new ProblemError({ ...problem, detail: `${problem.detail}${wait}` });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isWrapped(answer: unknown): answer is { data: unknown } {
  return typeof answer === "object" && answer !== null && "data" in answer;
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === "object" && answer !== null && "detail" in answer && "status" in answer;
}

function unknownProblem(status: number): Problem {
  const detail = "The service could not be asked.";
  return { type: "bad-gateway", title: "Bad gateway", status, detail, errors: null };
}
