// The people in the screenshots. They close most cases within a day, as real people do.
import { setTimeout as sleep } from "node:timers/promises";
import type { Opened } from "./detection-service.ts";

type Listed = { case_id: string; website_account_id: string; case_version: number; primary_fraud_label: string };
type Options = { method?: string; body?: object; headers?: Record<string, string> };

const keptOpen = 24;
// Flags the account of one in this many closed cases. Few, because the victim of a takeover is not flagged.
const flaggedEvery = 6;
const password = "correct horse battery staple";
const people = [
  { email: "grace@shop.example", name: "Grace Hopper", role: "admin" },
  { email: "ida@shop.example", name: "Ida Rhodes", role: "investigator" },
  { email: "jean@shop.example", name: "Jean Bartik", role: "lead" },
] as const;
const verdicts = [
  { disposition: "CONFIRMED_FRAUD", reason: "Owner called: it was not her." },
  { disposition: "CONFIRMED_FRAUD", reason: "Same device as four blocked accounts." },
  { disposition: "FALSE_POSITIVE", reason: "Customer is traveling, confirmed by phone." },
  { disposition: "CONFIRMED_FRAUD", reason: "Card declined by the bank, goods held back." },
  { disposition: "INCONCLUSIVE", reason: "Could not reach the customer." },
] as const;

const ownExpression = 'event.type == "login_succeeded" && account.device_is_new && device.accounts_24h >= 2';

// The case that is shown whole.
function chosenOf(cases: Listed[]): Listed | undefined {
  return cases.find((each) => each.primary_fraud_label === "Account Takeover" && each.case_version > 1) ?? cases[0];
}

export class Desk {
  readonly #url: string;
  readonly #opened: Opened;
  #turn = 0;
  #areJoined = false;
  #cookies: { cookie: string; csrf: string }[] = [];

  constructor(url: string, opened: Opened) {
    this.#url = url;
    this.#opened = opened;
  }

  // Every few hours of the simulation, one of the people closes the older part of the queue.
  async work(): Promise<void> {
    await this.#signIn();
    const { cases } = await this.#call<{ cases: Listed[] }>("/cases?status=OPEN&sort=created_at&limit=100");
    for (const each of cases.slice(0, Math.max(0, cases.length - keptOpen))) await this.#close(each);
  }

  async finish(): Promise<void> {
    await this.#signIn();
    const rule = {
      rule_version: 0,
      name: "A new device that others also use",
      sentence: "{device.accounts_24h} accounts used this device within a day, which is new to this one.",
      expression: ownExpression,
      weight: 1.5,
      label: "Account Takeover",
      about: "device",
      state: "shadow",
    };
    await this.#call("/rules/own", { method: "PUT", body: rule });
    await this.#claimAndNote();
  }

  async find(): Promise<{ caseId: string; accountId: string; backtestId: string }> {
    const { cases } = await this.#call<{ cases: Listed[] }>("/cases?status=OPEN&sort=-overall_risk_score&limit=100");
    const chosen = chosenOf(cases);
    if (!chosen) throw new Error("the simulation has left no open case");
    const body = { expression: ownExpression, label: "Account Takeover", about: "device" };
    const { backtest_id: backtestId } = await this.#call<{ backtest_id: string }>("/backtests", { body });
    await sleep(10_000);
    return { caseId: chosen.case_id, accountId: chosen.website_account_id, backtestId };
  }

  // Each person works on one of the open cases, and one has written a note.
  async #claimAndNote(): Promise<void> {
    const { cases } = await this.#call<{ cases: Listed[] }>("/cases?status=OPEN&sort=-overall_risk_score&limit=100");
    const claimed = [6, 1, 4].flatMap((at) => cases[at] ?? []);
    for (const [at, { case_id: id }] of claimed.entries())
      await this.#call(`/cases/${id}/claim`, { method: "PUT", headers: this.#headersOf(at), body: {} });
    const shown = chosenOf(cases);
    const text = "The bank holds the transfer until 15:00. @grace@shop.example please call the owner.";
    if (shown) await this.#call(`/cases/${shown.case_id}/notes`, { headers: this.#headersOf(1), body: { text } });
  }

  #headersOf(person: number): Record<string, string> {
    const { cookie = "", csrf = "" } = this.#cookies[person] ?? {};
    return { cookie, "x-csrf-token": csrf, "idempotency-key": crypto.randomUUID() };
  }

  async cookie(): Promise<{ name: string; value: string; url: string; httpOnly: boolean; sameSite: "Strict" }> {
    await this.#signIn();
    const [name = "", value = ""] = this.#cookies[0]?.cookie.split("=") ?? [];
    return { name, value, url: this.#url, httpOnly: true, sameSite: "Strict" };
  }

  async #close({ case_id: id, case_version, website_account_id: account }: Listed): Promise<void> {
    const verdict = verdicts[this.#turn % verdicts.length];
    const headers = this.#headersOf(this.#turn++ % this.#cookies.length);
    if (!verdict) return;
    await this.#call(`/cases/${id}`, { method: "PUT", headers, body: { status: "CLOSED", case_version, ...verdict } });
    if (this.#turn % flaggedEvery > 0 || account === "UNKNOWN") return;
    const path = `/enduseraccounts/${encodeURIComponent(account)}`;
    await this.#call(path, { method: "PUT", headers, body: { is_blocked: true, is_quarantined: false, is_fraudulent: true } });
  }

  async #signIn(): Promise<void> {
    if (!this.#areJoined) await Promise.all(people.map((person) => this.#join(person)));
    this.#areJoined = true;
    this.#cookies = await Promise.all(
      people.map(async ({ email }) => {
        const answer = await this.#send("/auth/sign-in", { body: { email, password } });
        const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
        return { cookie, csrf: ((await answer.json()) as { csrf_token: string }).csrf_token };
      }),
    );
  }

  async #join(person: object): Promise<void> {
    const { link } = await this.#call<{ link: { url: string } }>("/users", { body: person });
    await this.#send("/auth/link/use", { body: { token: new URL(link.url).hash.slice(1), password } });
  }

  async #call<T>(path: string, options: Options = {}): Promise<T> {
    const { tenant, token } = this.#opened.target;
    const headers = options.headers ?? { authorization: `Bearer ${await token(false)}` };
    const answer = await this.#send(`/v2/${tenant}${path}`, { ...options, headers });
    return ((await answer.json()) as { data: T }).data;
  }

  async #send(path: string, { body, headers, method = body ? "POST" : "GET" }: Options): Promise<Response> {
    const sent = {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    const answer = await fetch(`${this.#url}${path}`, sent);
    if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}
