import { newKey } from "./key.ts";
import { operations, type Operations } from "./operations.ts";
import { ProblemError, UnexpectedAnswer, isProblem } from "./problem.ts";
import { readMessages, toFollowed, type FollowedEvent } from "./stream.ts";

type OperationId = keyof Operations;
type Present<T> = { [Name in keyof T as T[Name] extends undefined ? never : Name]: T[Name] };
type Input<Id extends OperationId> = Present<Pick<Operations[Id], "params" | "body">> & {
  query?: Operations[Id]["query"];
  // For operations that want one: given to repeat an earlier call, else made anew.
  idempotencyKey?: string;
  signal?: AbortSignal;
};

export type ClientOptions = {
  // Where the service answers, without /v2.
  baseUrl: string;
  tenant: string;
  // In a browser that has a session the cookie speaks for the person, and every change carries the session's CSRF token.
  credentials:
    | { clientId: string; clientSecret: string; scope?: string }
    | { token: string }
    | { session: { csrfToken: () => string } };
  // Of a call that may be repeated, the first included.
  attemptsMax?: number;
};

type Following = { after?: number; types?: string[]; signal?: AbortSignal };

type Sent = { method: string; headers: Record<string, string>; body: string | null; signal: AbortSignal | null };

const attemptsDefault = 4;
const firstPauseMs = 200;
const tokenMarginMs = 60_000;

// One method per operation of the API, with its types. What the service refuses is thrown as a ProblemError.
export class CasehoundClient {
  readonly #options: ClientOptions;
  #token: { text: string; freshUntilMs: number } | null = null;

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, "") };
    if ("token" in options.credentials) this.#token = { text: options.credentials.token, freshUntilMs: Infinity };
  }

  async call<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Operations[Id]["data"]> {
    const given: {
      params?: Record<string, string>;
      query?: object | undefined;
      body?: unknown;
      idempotencyKey?: string;
      signal?: AbortSignal;
    } = input;
    const { method, path, wantsKey, isRepeatable } = operations[id];
    const headers: Record<string, string> = {};
    if (given.body !== undefined) headers["content-type"] = "application/json";
    // One key for all attempts: that is what makes a repeat harmless.
    if (wantsKey) headers["idempotency-key"] = given.idempotencyKey ?? newKey();
    const url = `${this.#options.baseUrl}/v2/${this.#options.tenant}${fill(path, given.params ?? {})}${queryText(given.query)}`;
    const request = {
      method,
      headers,
      body: given.body === undefined ? null : JSON.stringify(given.body),
      signal: given.signal ?? null,
    };
    return this.#attempt(url, request, isRepeatable ? (this.#options.attemptsMax ?? attemptsDefault) : 1);
  }

  // Every change as it happens, and after a break from where it was. Ends with the signal, or with what the service refuses.
  async *follow({ after, types, signal }: Following = {}): AsyncGenerator<FollowedEvent> {
    let last = after;
    const hasLeft = () => signal?.aborted === true;
    for (let pauses = 0; !hasLeft(); pauses++) {
      const query = queryText({ after: last, types: types?.join(",") });
      const url = `${this.#options.baseUrl}/v2/${this.#options.tenant}/events/stream${query}`;
      try {
        const headers = { authorization: `Bearer ${await this.#accessToken()}` };
        const response = await fetch(url, { headers, signal: signal ?? null });
        if (response.status === 401 && !("token" in this.#options.credentials)) this.#token = null;
        else if (!response.ok) await readJson(response);
        else {
          for await (const message of readMessages(response)) {
            pauses = 0;
            last = message.id ?? last;
            if (message.data !== undefined) yield toFollowed(message);
          }
        }
      } catch (error) {
        if (!isPassing(error) && !hasLeft()) throw error;
      }
      if (!hasLeft()) await pause(firstPauseMs * 2 ** Math.min(pauses, 7) * (0.5 + Math.random()));
    }
  }

  async #attempt<Data>(url: string, request: Sent, attemptsMax: number): Promise<Data> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send<Data>(url, request);
      } catch (error) {
        if (!isPassing(error) || attempt >= attemptsMax) throw error;
        await pause(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
      }
    }
  }

  async #send<Data>(url: string, request: Sent): Promise<Data> {
    const isRenewable = "clientId" in this.#options.credentials;
    for (let isFirst = true; ; isFirst = false) {
      const proof = await this.#proof(request.method);
      const response = await fetch(url, { ...request, headers: { ...request.headers, ...proof } });
      if (response.status === 401 && isRenewable && isFirst) {
        this.#token = null;
        await response.body?.cancel();
        continue;
      }
      // A body that is not the service's own shows in readAnswer; its shape is the table's promise.
      return (await readAnswer(response)) as Data;
    }
  }

  async #proof(method: string): Promise<Record<string, string>> {
    const { credentials } = this.#options;
    if (!("session" in credentials)) return { authorization: `Bearer ${await this.#accessToken()}` };
    return method === "GET" ? {} : { "x-csrf-token": credentials.session.csrfToken() };
  }

  async #accessToken(): Promise<string> {
    if (this.#token && this.#token.freshUntilMs > Date.now()) return this.#token.text;
    const { credentials, baseUrl } = this.#options;
    if (!("clientId" in credentials)) throw new Error("there are no client credentials");
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    });
    if (credentials.scope !== undefined) form.set("scope", credentials.scope);
    const answer: unknown = await readJson(await fetch(`${baseUrl}/v2/oauth/token`, { method: "POST", body: form }));
    const { access_token: text, expires_in: seconds } = answer as { access_token: string; expires_in: number };
    this.#token = { text, freshUntilMs: Date.now() + seconds * 1000 - tokenMarginMs };
    return text;
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const answer = await readJson(response);
  return typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    const words = `${response.url} did not answer with JSON: is the base address right?`;
    throw new UnexpectedAnswer(response.status, words, { cause });
  }
  if (response.ok) return answer;
  if (isProblem(answer)) throw new ProblemError(answer);
  const words = `${response.url} answered ${response.status} without a problem: is the base address right?`;
  throw new UnexpectedAnswer(response.status, words);
}

// Whether the same call may well succeed later: the service or what stands before it failed or had too much to do, or nothing
// answered.
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError || error instanceof UnexpectedAnswer) return error.status >= 500 || error.status === 429;
  return error instanceof TypeError;
}

function fill(path: string, params: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function queryText(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
