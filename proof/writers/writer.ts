import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import { dataOf, typeOf, type Answer, type ApiCaller } from "./call.ts";
import type { Ledger } from "./ledger.ts";

const retryMs = 20;
const retryMsMax = 200;
// A case keeps its earlier states, and every response contains them. Starting a new case now and then keeps it short.
const versionsMax = 60;
// Responses that mean that the outcome is unknown, or that nothing could be tried.
const passing = new Set(["internal-error", "bad-gateway", "service-unavailable", "rate-limited", "transaction-contended"]);

type WriterOptions = { line: ApiCaller; ledger: Ledger; random: Random; appKey: string };
type Held = { case_id: string; case_version: number; status: "OPEN" | "CLOSED" };
type Headers = Record<string, string>;
// `headers` go with the first attempt only.
type Step = {
  what: string;
  headers?: Headers;
  send: (headers: Headers) => Promise<Answer | null>;
  isRight: (answer: Answer) => boolean;
};
export type Kind = "close" | "reopen" | "bulk" | "flag" | "post" | "report" | "again" | "collect";

// A writer that works alone on one case and one account, so every response can be predicted. A request with an unknown outcome is
// resent under the same key until the outcome is known.
export class Writer {
  readonly #options: WriterOptions;
  readonly #name: string;
  #account = "";
  #accounts = 0;
  #held: Held | null = null;
  #isBlocked = false;
  steps = 0;

  constructor(name: string, options: WriterOptions) {
    this.#name = name;
    this.#options = options;
  }

  // Reports fraud and waits for the resulting case.
  async begin(): Promise<void> {
    const { line } = this.#options;
    this.#account = `${this.#name}-${this.#accounts++}`;
    this.#isBlocked = false;
    await this.#post("fraud_report", this.#account);
    for (;;) {
      const answer = await line.call({ method: "GET", path: `/cases?website_account_id=${this.#account}` });
      const [found] = answer?.status === 200 ? (dataOf(answer) as { cases: Held[] }).cases : [];
      if (found) {
        this.#held = found;
        return;
      }
      await sleep(retryMs);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.step();
      if (this.#need().case_version > versionsMax) await this.begin();
    }
  }

  async step(headers: Headers = {}, kind?: Kind): Promise<void> {
    const { random } = this.#options;
    const next = this.#need().status === "OPEN" ? "close" : "reopen";
    const chosen = kind ?? random.pickShare({ [next]: 4, bulk: 2, flag: 2, post: 2, report: 0.2, collect: 1 });
    if (chosen === "flag") await this.#flag(headers);
    else if (chosen === "collect") await this.#collect(headers);
    else if (chosen === "post") await this.#post("login_failed", `${this.#name}-visitor`, headers);
    // Each report opens a new case. Repeated ones for the same account are added to one.
    else if (chosen === "report") await this.#post("fraud_report", random.uuid(), headers);
    else if (chosen === "again") await this.#post("fraud_report", `${this.#name}-again`, headers);
    else {
      // Only an open case can be closed.
      if (next !== (chosen === "reopen" ? "reopen" : "close")) await this.#change({});
      await (chosen === "bulk" ? this.#bulk(headers) : this.#change(headers));
    }
    this.steps++;
  }

  // Repeats the request until a response settles it.
  async #settle({ what, headers = {}, send, isRight }: Step): Promise<Answer> {
    const { ledger } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const answer = await send(attempt === 1 ? headers : {});
      ledger.requests++;
      if (answer !== null && !passing.has(typeOf(answer))) {
        if (answer.isReplay) ledger.replays++;
        if (attempt === 1 && answer.isReplay) ledger.violate(`${what}: the first answer to its key was a replay`);
        if (!isRight(answer))
          ledger.violate(`${what}: attempt ${attempt} returned ${answer.status} ${answer.text.slice(0, 300)}`);
        return answer;
      }
      if (answer !== null && typeOf(answer) === "transaction-contended") {
        ledger.contended++;
        if (attempt === 1) await this.#expectNothing(what);
      } else ledger.unknown++;
      // Retry less often the longer the service is down, because a start needs the CPU too.
      await sleep(Math.min(attempt * retryMs, retryMsMax));
    }
  }

  // A contended response means that nothing was applied. Nobody else works on this case.
  async #expectNothing(what: string): Promise<void> {
    if (!this.#held) return;
    const { line, ledger } = this.#options;
    const { case_id, case_version } = this.#held;
    for (;;) {
      const answer = await line.call({ method: "GET", path: `/cases/${case_id}` });
      if (answer?.status === 200) {
        const now = (dataOf(answer) as Held).case_version;
        if (now !== case_version) ledger.violate(`${what}: reported as contended, but version ${case_version} became ${now}`);
        return;
      }
      await sleep(retryMs);
    }
  }

  async #change(headers: Headers): Promise<void> {
    const { line, ledger, random } = this.#options;
    const held = this.#need();
    const key = random.uuid();
    const status = held.status === "OPEN" ? "CLOSED" : "OPEN";
    const body = { status, case_version: held.case_version, reason: key };
    const wanted = held.case_version + 1;
    const answer = await this.#settle({
      what: `${key}: ${held.case_id} from version ${held.case_version} to ${status}`,
      headers,
      send: (more) => line.call({ method: "PUT", path: `/cases/${held.case_id}`, body, key, headers: more }),
      isRight: (each) =>
        each.status === 200 && (dataOf(each) as Held).case_version === wanted && (dataOf(each) as Held).status === status,
    });
    if (answer.status !== 200) return this.#lookAgain();
    this.#held = { ...held, status, case_version: wanted };
    ledger.changes.set(key, { case_id: held.case_id, case_version: wanted });
    if (random.chance(0.1)) await this.#replay({ key, path: `/cases/${held.case_id}`, body }, answer.text);
  }

  // Reads the case again after a fault, so one violation does not cause a hundred.
  async #lookAgain(): Promise<void> {
    const { line } = this.#options;
    const answer = await line.call({ method: "GET", path: `/cases/${this.#need().case_id}` });
    if (answer?.status === 200) this.#held = dataOf(answer) as Held;
  }

  async #replay({ key, path, body }: { key: string; path: string; body: unknown }, text: string): Promise<void> {
    const { line } = this.#options;
    await this.#settle({
      what: `${key}: replay`,
      send: async () => {
        const answer = await line.call({ method: "PUT", path, body, key });
        // This is the second response to the key, so a replay is correct here.
        return answer && { ...answer, isReplay: false };
      },
      isRight: (each) => each.text === text,
    });
  }

  async #bulk(headers: Headers): Promise<void> {
    const { line, ledger, random } = this.#options;
    const held = this.#need();
    const key = random.uuid();
    const { case_id, case_version } = held;
    const body = { cases: [{ case_id, case_version }], reason: key };
    type Result = { results: { status: number; case_version?: number; type?: string }[] };
    const resultOf = (each: Answer) => (each.status === 200 ? (dataOf(each) as Result).results[0] : undefined);
    const answer = await this.#settle({
      what: `${key}: bulk close of ${case_id} at version ${case_version}`,
      headers,
      send: (more) => line.call({ method: "POST", path: "/cases/close", body, key, headers: more }),
      isRight: (each) => resultOf(each)?.case_version === case_version + 1 || resultOf(each)?.type === "transaction-contended",
    });
    if (resultOf(answer)?.status !== 200) return this.#lookAgain();
    this.#held = { ...held, status: "CLOSED", case_version: case_version + 1 };
    ledger.changes.set(key, { case_id, case_version: case_version + 1 });
  }

  // Needs no key, because setting the same flag twice has the same effect.
  async #flag(headers: Headers): Promise<void> {
    const { line, ledger } = this.#options;
    const is_blocked = !this.#isBlocked;
    const answer = await this.#settle({
      what: `flag of ${this.#account}`,
      headers,
      send: (more) =>
        line.call({ method: "PUT", path: `/enduseraccounts/${this.#account}`, body: { is_blocked }, headers: more }),
      isRight: (each) => each.status === 200 && (dataOf(each) as { is_blocked: boolean }).is_blocked === is_blocked,
    });
    if (answer.status !== 200) return;
    this.#isBlocked = is_blocked;
    ledger.flags.set(this.#account, is_blocked);
  }

  async #post(type: string, account: string, headers: Headers = {}): Promise<void> {
    const { line, ledger, random } = this.#options;
    const activity_id = random.uuid();
    const activity = {
      activity_id,
      type,
      occurred_at: new Date().toISOString(),
      website_account_id: account,
      device_id: account,
    };
    const answer = await this.#settle({
      what: `activity ${activity_id}`,
      headers,
      send: (more) => line.call({ method: "POST", path: "/activities", body: { activities: [activity] }, headers: more }),
      isRight: (each) => each.status === 202,
    });
    if (answer.status === 202) ledger.activities.add(activity_id);
  }

  async #collect(headers: Headers): Promise<void> {
    const { line, ledger, random, appKey } = this.#options;
    const event_id = random.uuid();
    const event = {
      event_type: "add_to_cart",
      event_id,
      device_id: `${this.#name}-browser`,
      unique_id: `${this.#name}-browser`,
      timestamp: Date.now(),
      platform: "Web",
      user: {},
      attributes: { _session_id: `${this.#name}-session`, _session_start_timestamp: Date.now() },
    };
    const answer = await this.#settle({
      what: `browser's event ${event_id}`,
      headers,
      send: (more) => line.collect(appKey, [event], more),
      isRight: (each) => each.status === 200,
    });
    if (answer.status === 200) ledger.activities.add(event_id);
  }

  #need(): Held {
    if (!this.#held) throw new Error(`${this.#name} has not begun`);
    return this.#held;
  }
}
