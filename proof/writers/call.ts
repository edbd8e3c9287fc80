import type { Credentials } from "../../service/test/launch.ts";

// A response. A call without one returns null: its outcome is unknown.
export type Answer = { status: number; text: string; isReplay: boolean };
export type Request = { method: string; path: string; body?: unknown; key?: string; headers?: Record<string, string> };

const patienceMs = 60_000;

// A tenant's connection to the service on its port.
export class ApiCaller {
  readonly #base: string;
  readonly #credentials: Credentials;
  #token = "";

  constructor(port: number, credentials: Credentials) {
    this.#base = `http://127.0.0.1:${port}`;
    this.#credentials = credentials;
  }

  get token(): string {
    return this.#token;
  }

  async signIn(): Promise<void> {
    const { client_id, client_secret } = this.#credentials;
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
    const response = await fetch(`${this.#base}/v2/oauth/token`, { method: "POST", body });
    if (response.status !== 200) throw new Error(`no token: ${await response.text()}`);
    this.#token = ((await response.json()) as { access_token: string }).access_token;
  }

  // Paths are relative to the tenant's. Returns null if there was no response.
  call({ path, ...request }: Request): Promise<Answer | null> {
    return this.#send(`/v2/${this.#credentials.tenant}${path}`, request, { authorization: `Bearer ${this.#token}` });
  }

  collect(appKey: string, events: unknown[], headers: Record<string, string> = {}): Promise<Answer | null> {
    return this.#send(`/collect/${appKey}`, { method: "POST", body: events, headers }, {});
  }

  async #send(path: string, request: Omit<Request, "path">, more: Record<string, string>): Promise<Answer | null> {
    const { method, body, key, headers } = request;
    const all = {
      ...more,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
      ...headers,
    };
    try {
      const init = { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await fetch(this.#base + path, { ...init, signal: AbortSignal.timeout(patienceMs) });
      const text = await response.text();
      return { status: response.status, text, isReplay: response.headers.get("idempotent-replayed") === "true" };
    } catch {
      return null;
    }
  }
}

// The caller knows the type of the data.
export function dataOf(answer: Answer): unknown {
  return (JSON.parse(answer.text) as { data: unknown }).data;
}

export function typeOf(answer: Answer): string {
  const { type } = JSON.parse(answer.text) as { type?: string };
  return type ?? String(answer.status);
}
