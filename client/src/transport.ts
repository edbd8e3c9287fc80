import { Aborted, ProblemError, TimedOut, WrongBaseAddress, isProblem } from "./problem.ts";

// In a browser session, the cookie identifies the person, and every change carries the session's CSRF token.
export type Credentials =
  | { clientId: string; clientSecret: string; scope?: string }
  // A token from your own issuer or another source. A function is called if a token is needed and again after a rejection.
  | { token: string | (() => string | Promise<string>) }
  | { session: { csrfToken: () => string } };

type RequestInfo = { id: string; method: string; attempt: number; key?: string };
export type Hooks = {
  onRequest?: (told: RequestInfo & { url: string }) => void;
  onAnswer?: (told: RequestInfo & { url: string; status: number; ms: number }) => void;
  onRetry?: (told: RequestInfo & { error: unknown; pauseMs: number }) => void;
};

export type Request = {
  id: string;
  method: string;
  // The path after the tenant.
  path: string;
  body: string | null;
  key: string | null;
  signal: AbortSignal | null;
  timeoutMs: number;
};

type Limits = Pick<Request, "signal" | "timeoutMs">;
type Options = { baseUrl: string; tenant: string; credentials: Credentials; hooks?: Hooks; fetch?: typeof fetch };

const tokenMarginMs = 60_000;
const tokenTimeoutMs = 30_000;
// The service never redirects. Following a redirect would send the client's secret, or a change, to whatever host it names.
const redirect = "manual";

// Sends one request with a valid token and returns the response.
export class Transport {
  readonly #options: Options;
  readonly #base: string;
  readonly #fetch: typeof fetch;
  #token: { text: string; freshUntilMs: number } | null = null;
  // Shared by all calls that need a token at the same time.
  #fetching: Promise<string> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#base = options.baseUrl.replace(/\/+$/, "");
    const fault = baseFault(this.#base);
    if (fault !== null) throw new TypeError(`baseUrl ${fault}`);
    if (/^\.{0,2}$/.test(options.tenant)) throw new TypeError("tenant must be a tenant's slug");
    // Browsers require fetch to be called without `this`.
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
    const { credentials } = options;
    if ("token" in credentials && typeof credentials.token === "string")
      this.#token = { text: credentials.token, freshUntilMs: Infinity };
  }

  tell<Name extends keyof Hooks>(name: Name, told: Parameters<NonNullable<Hooks[Name]>>[0]): void {
    try {
      // The name determines the type.
      (this.#options.hooks?.[name] as ((told: unknown) => void) | undefined)?.(told);
    } catch {
      // A failing hook must not affect the request.
    }
  }

  // Retries a 401 once with a fresh token. Nothing was applied, so it is the same request with the same key.
  async send(request: Request, attempt: number): Promise<unknown> {
    const url = this.#urlOf(request.path);
    const told = { id: request.id, method: request.method, attempt, url, ...(request.key !== null && { key: request.key }) };
    const isRenewable = this.#isRenewable;
    for (let isFirst = true; ; isFirst = false) {
      const headers = await this.#headersOf(request);
      const used = this.#token;
      this.tell("onRequest", told);
      const startMs = performance.now();
      const { method, body, signal, timeoutMs } = request;
      const { response, text } = await this.#fetchText(url, { method, headers, body }, { signal, timeoutMs });
      this.tell("onAnswer", { ...told, status: response.status, ms: performance.now() - startMs });
      if (response.status === 401 && isRenewable && isFirst) {
        // Another call may have fetched a fresh token meanwhile.
        if (this.#token === used) this.#token = null;
        continue;
      }
      if (response.status === 204) return undefined;
      const answer = readJson(response, text);
      if (typeof answer === "object" && answer !== null && "data" in answer) return answer.data;
      throw new WrongBaseAddress(response.status, `${url} did not return data: check the base address`);
    }
  }

  // Opens a stream of this type, which has no time limit.
  async open(path: string, type: "text/event-stream" | "text/csv", signal: AbortSignal | null): Promise<Response> {
    const url = this.#urlOf(path);
    const headers = { ...(await this.#proof("GET", { signal, timeoutMs: tokenTimeoutMs })), accept: type };
    const response = await this.#fetch(url, { headers, signal, redirect });
    if (response.ok && (response.headers.get("content-type") ?? "").startsWith(type)) return response;
    if (response.ok) {
      // The body may never end.
      await response.body?.cancel();
      throw new WrongBaseAddress(response.status, `${url} did not return a stream: check the base address`);
    }
    const failure = failureOf(response, await response.text());
    if (response.status !== 401 || !this.#isRenewable) throw failure;
    // Treat this as a temporary failure: the next attempt fetches a fresh token.
    this.#token = null;
    throw new TypeError("the token is no longer valid", { cause: failure });
  }

  get #isRenewable(): boolean {
    const { credentials } = this.#options;
    return "clientId" in credentials || ("token" in credentials && typeof credentials.token === "function");
  }

  #urlOf(path: string): string {
    return `${this.#base}/v2/${encodeURIComponent(this.#options.tenant)}${path}`;
  }

  async #headersOf({ method, body, key, ...limits }: Request): Promise<Record<string, string>> {
    return {
      ...(body !== null && { "content-type": "application/json" }),
      ...(key !== null && { "idempotency-key": key }),
      ...(await this.#proof(method, limits)),
    };
  }

  async #proof(method: string, limits: Limits): Promise<Record<string, string>> {
    const { credentials } = this.#options;
    if (!("session" in credentials)) return { authorization: `Bearer ${await this.#accessToken(limits)}` };
    return method === "GET" ? {} : { "x-csrf-token": credentials.session.csrfToken() };
  }

  #accessToken(limits: Limits): Promise<string> | string {
    if (this.#token && this.#token.freshUntilMs > Date.now()) return this.#token.text;
    this.#fetching ??= this.#fetchToken().finally(() => {
      this.#fetching = null;
    });
    return within(this.#fetching, limits);
  }

  async #fetchToken(): Promise<string> {
    const { credentials } = this.#options;
    if ("token" in credentials && typeof credentials.token === "function") {
      const text = await credentials.token();
      this.#token = { text, freshUntilMs: Infinity };
      return text;
    }
    if (!("clientId" in credentials)) throw new Error("there are no client credentials");
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    });
    if (credentials.scope !== undefined) form.set("scope", credentials.scope);
    const limits = { signal: null, timeoutMs: tokenTimeoutMs };
    const { response, text } = await this.#fetchText(`${this.#base}/v2/oauth/token`, { method: "POST", body: form }, limits);
    const answer = readJson(response, text) as { access_token: string; expires_in: number };
    this.#token = { text: answer.access_token, freshUntilMs: Date.now() + answer.expires_in * 1000 - tokenMarginMs };
    return answer.access_token;
  }

  // The time limit covers the body too.
  async #fetchText(url: string, init: RequestInit, { signal, timeoutMs }: Limits) {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#fetch(url, { ...init, redirect, signal: signal ? AbortSignal.any([signal, limit]) : limit });
      return { response, text: await response.text() };
    } catch (cause) {
      if (signal?.aborted === true) throw new Aborted(signal.reason);
      if (limit.aborted) throw new TimedOut(`${url} did not respond within ${timeoutMs} ms`, { cause });
      throw cause;
    }
  }
}

function baseFault(base: string): string | null {
  // An empty base means the page's own origin.
  if (base === "") return null;
  if (!/^https?:\/\//i.test(base)) return "must begin with http:// or https://";
  const url = URL.canParse(base) ? new URL(base) : null;
  if (url === null || url.search !== "" || url.hash !== "") return "must be an address without a query or fragment";
  return url.username === "" && url.password === "" ? null : "must not contain a user or password";
}

// One token request serves all callers, but each waits only for its own time limit.
async function within<T>(work: Promise<T>, { signal, timeoutMs }: Limits): Promise<T> {
  const limit = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, limit]) : limit;
  const over = new AbortController();
  const left = new Promise<never>((_, reject) => {
    const leave = () =>
      reject(
        signal?.aborted === true ? new Aborted(signal.reason) : new TimedOut(`no token was received within ${timeoutMs} ms`),
      );
    if (either.aborted) leave();
    else either.addEventListener("abort", leave, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    over.abort();
  }
}

function readJson(response: Response, text: string): unknown {
  if (!response.ok) throw failureOf(response, text);
  return parse(response, text);
}

function parse(response: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const words = `${response.url} did not return JSON: check the base address`;
    throw new WrongBaseAddress(response.status, words, { cause });
  }
}

function failureOf(response: Response, text: string): Error {
  // Browsers hide the status of a redirect.
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    const words = `${response.url} returned a redirect, which is not followed: check the base address`;
    return new WrongBaseAddress(response.status, words);
  }
  let answer: unknown;
  try {
    answer = parse(response, text);
  } catch (error) {
    return error as Error;
  }
  if (isProblem(answer)) return new ProblemError(answer, retryAfterOf(response));
  return new WrongBaseAddress(
    response.status,
    `${response.url} returned ${response.status} without a problem document: check the base address`,
  );
}

// The header holds seconds or a date.
function retryAfterOf({ headers }: Response): { retryAfterMs?: number } {
  const given = headers.get("retry-after");
  if (given === null) return {};
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}
