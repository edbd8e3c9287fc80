import { randomUUID } from "node:crypto";
import { sql } from "../../service/src/db/postgres/sql.ts";
import { send, type Answer, type Options } from "../../service/test/send.ts";
import type { Stand } from "../stand.ts";
import { origin, signIdentity, wireRequest, type PageEvent, type PageRequest } from "./page-event.ts";

// Who vouches for the accounts that the shop's pages name: its servers, a signature, or nobody.
export const worlds = ["server", "signed", "snippet"] as const;
export type World = (typeof worlds)[number];

// Something that really happens in the shop. The world determines who reports it to Casehound.
export type Act = {
  id: string;
  type: string;
  at: number;
  ip: string;
  agent: string;
  account?: string;
  session?: string;
  device?: string;
  attributes?: Record<string, string | number>;
};

export type CaseItem = {
  case_id: string;
  website_account_id: string;
  status: string;
  case_version: number;
  overall_risk_score: number;
  recommended_action: string;
};
export type WholeCase = CaseItem & { fraud_occurrences: Record<string, unknown> };
// `logOdds`: the exact value that the score was computed from.
export type Decided = { score: number; logOdds: number; rules: string[] };
type Credentials = { tenant: string; tenant_id: string; client_id: string; client_secret: string; app_key: string };

// The attacker is a customer too. What they do to their own account is not forgery.
export const mallory = "mallory";

const tokenSeconds = 3600;
const onlyServers = new Set(["login_failed", "fraud_report", "custom:reset_asked"]);

// A new tenant in one of the worlds, with the service on a port.
export class Ground {
  readonly world: World;
  readonly tenant: Credentials;
  readonly #stand: Stand;
  readonly #port: number;
  #token = "";
  #identitySecret = "";
  readonly #tokensExpire = Math.floor(Date.now() / 1000) + tokenSeconds;
  // Every account that the shop itself has named.
  readonly named = new Set<string>();

  private constructor(stand: Stand, port: number, world: World, tenant: Credentials) {
    this.#stand = stand;
    this.#port = port;
    this.world = world;
    this.tenant = tenant;
  }

  static async open(stand: Stand, port: number, world: World): Promise<Ground> {
    const ground = new Ground(stand, port, world, await stand.tenant());
    const { client_id, client_secret } = ground.tenant;
    const rawBody = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await send(port, "POST", "/v2/oauth/token", { rawBody, headers });
    ground.#token = (answer.json as unknown as { access_token: string }).access_token;
    await ground.must("PUT", "/tenants", { body: { allowed_origins: [origin] } });
    if (world === "signed") await ground.#useIdentity();
    return ground;
  }

  async #useIdentity(): Promise<void> {
    const made = await this.must("POST", "/tenants/identity/secrets", { body: {} });
    this.#identitySecret = (made.json.data as { secret: string }).secret;
    await this.must("PUT", "/tenants", { body: { identity_verification: "required" } });
  }

  call(method: string, path: string, options: Options = {}): Promise<Answer> {
    return send(this.#port, method, `/v2/${this.tenant.tenant}${path}`, { token: this.#token, ...options });
  }

  async must(method: string, path: string, options: Options = {}): Promise<Answer> {
    const answer = await this.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path} returned ${answer.status}: ${answer.text}`);
    return answer;
  }

  // Anybody can do this, because it needs only the public app key. Returns the status.
  async collect(request: PageRequest, appKey = this.tenant.app_key): Promise<number> {
    const { path, body, headers } = wireRequest(request, appKey);
    return (await send(this.#port, "POST", path, { rawBody: body, headers })).status;
  }

  // `expires` is in seconds. By default, returns the token that the shop's page has while the customer is signed in.
  tokenFor(account: string, expires = this.#tokensExpire): string {
    return signIdentity(this.#identitySecret, account, expires);
  }

  // Reports what happens in the shop, through the channel of its world. Everything is scored when this returns. Acts are grouped
  // by browser, because a request has one address and one user agent, and scored group by group, so that two runs of a story have
  // the same result.
  async tell(acts: Act[]): Promise<void> {
    for (const { account } of acts) if (account !== undefined) this.named.add(account);
    const byServer = acts.filter((act) => this.#isToldByServer(act));
    if (byServer.length > 0) {
      await this.must("POST", "/activities", { body: { activities: byServer.map(activityOf) } });
      await this.settle();
    }
    const byPage = acts.filter((act) => !this.#isToldByServer(act));
    for (const group of Map.groupBy(byPage, ({ ip, agent }) => `${ip} ${agent}`).values()) {
      const [{ ip, agent } = { ip: "", agent: "" }] = group;
      const status = await this.collect({ events: group.map((act) => this.#pageEventOf(act)), ip, agent, shape: "tag" });
      if (status !== 200) throw new Error(`the shop's own page got ${status}`);
      await this.settle();
    }
  }

  #isToldByServer({ type }: Act): boolean {
    if (this.world === "snippet") return type === "fraud_report";
    return this.world === "server" ? type !== "page_view" : onlyServers.has(type);
  }

  #pageEventOf({ account, agent: _agent, ip: _ip, ...act }: Act): PageEvent {
    const token = this.world === "signed" && account !== undefined ? { token: this.tokenFor(account) } : {};
    return { ...act, ...(account !== undefined && { account }), ...token };
  }

  settle(): Promise<void> {
    return this.#stand.drained(this.tenant.tenant_id);
  }

  async cases(query = ""): Promise<CaseItem[]> {
    return (await this.#pages(`/cases?${query}`)).flatMap((page) => (page as { cases: CaseItem[] }).cases);
  }

  // What each case is about, such as `account:ada` or `ip:192.0.2.1`. Read from the table, because the API has no such field.
  async subjects(): Promise<string[]> {
    const rows = await this.#stand.database.query<{ subject: string }>(sql`
      select subject from cases where tenant_id = ${this.tenant.tenant_id} order by subject`);
    return rows.map(({ subject }) => subject);
  }

  // How many cases have a subject with this prefix.
  async casesAbout(beginning: string): Promise<number> {
    return (await this.subjects()).filter((subject) => subject.startsWith(beginning)).length;
  }

  async caseOf(id: string): Promise<WholeCase> {
    return (await this.must("GET", `/cases/${id}`)).json.data;
  }

  // Returns JSON by id.
  async accounts(): Promise<Map<string, string>> {
    type Page = { end_user_accounts: { website_account_id: string }[] };
    const all = (await this.#pages("/enduseraccounts?")).flatMap((page) => (page as Page).end_user_accounts);
    return new Map(all.map((account) => [account.website_account_id, JSON.stringify(account)]));
  }

  async #pages(path: string): Promise<unknown[]> {
    const pages: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { json } = await this.must(
        "GET",
        `${path}&limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      pages.push(json.data);
      cursor = (json.data as { next_cursor: string | null }).next_cursor;
    }
    return pages;
  }

  async close({ case_id, case_version }: CaseItem): Promise<number> {
    const body = { status: "CLOSED", case_version };
    return (await this.call("PUT", `/cases/${case_id}`, { body, key: randomUUID() })).status;
  }

  // The decisions about the shop's own acts. Read from the log, because the API shows only decisions that became a case.
  async decisions(acts: Act[]): Promise<Map<string, Decided>> {
    type Row = { activity_id: string; origin: string; score: number; decision: string };
    const ids = acts.map(({ id }) => id);
    const rows = await this.#stand.database.query<Row>(sql`
      select activity_id, origin, score, decision
      from activities
      where tenant_id = ${this.tenant.tenant_id} and activity_id = any(${ids})`);
    const originOf = new Map(acts.map((act) => [act.id, this.#isToldByServer(act) ? "server" : "browser"]));
    const own = rows.filter((row) => originOf.get(row.activity_id) === row.origin);
    return new Map(
      own.map(({ activity_id, score, decision }) => {
        const { l, r = {} } = JSON.parse(decision) as { l: number; r?: Record<string, number> };
        return [activity_id, { score, logOdds: l, rules: Object.keys(r) }];
      }),
    );
  }

  // Rows that activity creates and that no list shows.
  async rows(): Promise<{ links: number; sessions: number; states: number }> {
    const id = this.tenant.tenant_id;
    const [row] = await this.#stand.database.query<{ links: string; sessions: string; states: string }>(sql`
      select (select count(*) from links where tenant_id = ${id} and a <> ${mallory}) as links,
        (select count(*) from sessions where tenant_id = ${id}) as sessions,
        (select count(*) from entity_states where tenant_id = ${id}) as states`);
    return { links: Number(row?.links), sessions: Number(row?.sessions), states: Number(row?.states) };
  }
}

function activityOf({ id, type, at, account, session, device, ip, agent, attributes }: Act) {
  return {
    activity_id: id,
    type,
    occurred_at: new Date(at).toISOString(),
    ip,
    user_agent: agent,
    ...(account !== undefined && { website_account_id: account }),
    ...(session !== undefined && { session_id: session }),
    ...(device !== undefined && { device_id: device }),
    ...(attributes !== undefined && { attributes }),
  };
}
