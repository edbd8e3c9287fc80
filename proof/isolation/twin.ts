import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../../service/test/launch.ts";
import { send, type Answer, type Options } from "../../service/test/send.ts";
import { noNotifications } from "../../service/src/domain/notification.ts";
import type { Stand } from "../stand.ts";
import { storeApproval } from "../../service/test/stored-approval.ts";
import { storeSnooze } from "../../service/test/stored-snooze.ts";
import { storeMail } from "./mails.ts";
import { storeModel } from "./model.ts";

const waitMaxMs = 30_000;
const pollMs = 50;
const sharedKey = "one-key-for-all";
export const sharedEmail = "ada@shop.example";

// A tenant filled like its twin: with the same ids if callers choose them, and some that only it has. Its word is in all of its
// texts.
export class Twin {
  readonly word: string;
  readonly slug: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly password: string;
  readonly origin: string;
  readonly #port: number;
  token = "";
  appKey = "";
  // Values for path parameters: those that both have if a caller chooses them, otherwise this tenant's own.
  shared: Record<string, string> = {};
  // Values that only this tenant has.
  own: Record<string, string> = {};
  person: Record<string, string> = {};
  linkToken = "";

  private constructor(made: Awaited<ReturnType<Stand["tenant"]>>, word: string, port: number) {
    this.word = word;
    this.slug = made.tenant;
    this.tenantId = made.tenant_id;
    this.clientId = made.client_id;
    this.clientSecret = made.client_secret;
    this.password = `correct horse battery ${word}`;
    this.origin = `https://${word}.example`;
    this.#port = port;
  }

  static async fill(stand: Stand, service: ServiceProcess, word: string): Promise<Twin> {
    const twin = new Twin(await stand.tenant(), word, service.port);
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: twin.clientId,
      client_secret: twin.clientSecret,
    });
    const granted = await fetch(`${twin.base}/v2/oauth/token`, { method: "POST", body: form });
    twin.token = ((await granted.json()) as { access_token: string }).access_token;
    await twin.#fillSettings();
    await twin.#fillActivity();
    await twin.#fillPeople();
    await twin.#fillCases();
    const model_id = await storeModel(stand.database, twin.tenantId, Number.parseInt(word.slice(-6), 16));
    const snooze_id = await storeSnooze(stand.database, twin.tenantId, `quiet-${word}`);
    const approval_id = await storeApproval(stand.database, twin.tenantId, word);
    for (const params of [twin.shared, twin.own]) Object.assign(params, { model_id, snooze_id, approval_id });
    await storeMail(stand.database, twin.tenantId, { userId: twin.shared["user_id"] ?? "", word });
    await twin.#askForMails();
    return twin;
  }

  get base(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  ask(method: string, path: string, options: Options = {}): Promise<Answer> {
    return send(this.#port, method, path, options);
  }

  call(method: string, path: string, options: Options = {}): Promise<Answer> {
    return this.ask(method, `/v2/${this.slug}${path}`, { token: this.token, ...options });
  }

  async #do<T>(method: string, path: string, body?: unknown, key?: string): Promise<T> {
    const options = { ...(body !== undefined && { body }), ...(key !== undefined && { key }) };
    const answer = await this.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path} returned ${answer.status}: ${answer.text}`);
    return answer.json.data;
  }

  async #fillSettings(): Promise<void> {
    await this.#do("PUT", "/tenants", { allowed_origins: [this.origin] });
    this.appKey = (await this.#do<{ clickstream_app_id: string }>("GET", "/tenants")).clickstream_app_id;
    const rule = { expression: "device.accounts_1h >= 60", label: "Bot", weight: 3, about: "account", state: "on" };
    const sentence = `{device.accounts_1h} accounts, says ${this.word}.`;
    for (const id of ["same_rule", `only_${this.word}`])
      await this.#do("PUT", `/rules/${id}`, { ...rule, name: this.word, sentence, rule_version: 0 });
    for (const name of ["same_list", `only_${this.word}`]) {
      await this.#do("POST", "/lists", { name, type: "ip", kind: "watch", description: this.word });
      await this.#do("POST", `/lists/${name}/entries`, { entries: [{ value: "192.0.2.0/24", reason: this.word }] });
    }
    await this.#do("POST", "/enduseraccounts", { website_account_id: "customer", crm_account_id: `crm-${this.word}` });
    const view = { name: this.word, filter: { website_account_id: "user-1", closed_by: this.word }, is_shared: true };
    this.shared["view_id"] = (await this.#do<{ view_id: string }>("POST", "/views", view)).view_id;
    const backtest = await this.#do<{ backtest_id: string }>("POST", "/backtests", { expression: rule.expression });
    this.shared["backtest_id"] = backtest.backtest_id;
  }

  async #fillActivity(): Promise<void> {
    const seen = (type: string, account: string, more: Record<string, string>) => ({
      activity_id: `${type}-of-${account}`,
      type,
      occurred_at: new Date().toISOString(),
      website_account_id: account,
      user_agent: `Mozilla/5.0 ${this.word}`,
      attributes: { note: this.word },
      ...more,
    });
    const same = { session_id: "session-1", device_id: "device-1", ip: "203.0.113.7" };
    const ip = ["20", ...Buffer.from(this.word.slice(-6), "hex")].join(".");
    this.own = { session_id: `session-${this.word}`, device_id: `device-${this.word}`, ip };
    const alone = `only-${this.word}`;
    const seenAt: [string, Record<string, string>][] = [
      ["user-1", same],
      ["user-2", same],
      [alone, this.own],
    ];
    const activities = ["login_succeeded", "fraud_report"].flatMap((type) =>
      seenAt.map(([account, at]) => seen(type, account, at)),
    );
    await this.#do("POST", "/activities", { activities });
    Object.assign(this.shared, same, { website_account_id: "user-1", rule_id: "same_rule", list_name: "same_list" });
    Object.assign(this.own, { website_account_id: alone, rule_id: `only_${this.word}`, list_name: `only_${this.word}` });
    const spoiled = JSON.stringify([{ event_type: this.word }]);
    const collected = await this.ask("POST", `/collect/${this.appKey}`, { rawBody: spoiled, headers: { origin: this.origin } });
    if (collected.status !== 200) throw new Error(`the collector returned ${collected.status}: ${collected.text}`);
  }

  async #fillPeople(): Promise<void> {
    const user = { email: sharedEmail, name: `Ada ${this.word}`, role: "admin" };
    type Invited = { user: { user_id: string }; link: { url: string } };
    const invited = await this.#do<Invited>("POST", "/users", user);
    const used = await this.ask("POST", "/auth/link/use", {
      body: { token: tokenOf(invited.link.url), password: this.password },
    });
    const [line = ""] = used.headers.getSetCookie();
    this.person = {
      cookie: line.split(";")[0] ?? "",
      "x-csrf-token": (used.json as unknown as { csrf_token: string }).csrf_token,
    };
    const other = { email: "grace@shop.example", name: `Grace ${this.word}`, role: "investigator" };
    const waiting = await this.#do<Invited>("POST", "/users", other);
    this.linkToken = tokenOf(waiting.link.url);
    const made = await this.#do<{ client: { client_id: string } }>("POST", "/clients", { scopes: ["read:cases"] });
    for (const role of ["same-role", `only-${this.word}`]) await this.#do("POST", "/roles", { role, scopes: ["read:cases"] });
    for (const key of ["same-issuer", `only-${this.word}`]) await this.#addIssuer(key);
    const hook = { url: `https://${this.word}.example/hook` };
    const { webhook } = await this.#do<{ webhook: { webhook_id: string } }>("POST", "/webhooks", hook);
    // Switched off, so that nothing is sent.
    await this.#do("PUT", `/webhooks/${webhook.webhook_id}`, { is_enabled: false });
    const others = { client_id: made.client.client_id, webhook_id: webhook.webhook_id };
    const directory = await this.#fillDirectory();
    Object.assign(this.shared, { user_id: waiting.user.user_id, role_name: "same-role", issuer_key: "same-issuer" });
    Object.assign(this.shared, others, directory);
    Object.assign(this.own, { role_name: `only-${this.word}`, issuer_key: `only-${this.word}` });
  }

  async #fillDirectory(): Promise<{ scim_token_id: string; scim_group_id: string }> {
    type Made = { scim_token: { scim_token_id: string } };
    const { scim_token } = await this.#do<Made>("POST", "/scim/tokens", { name: "directory" });
    const person = { userName: `${this.word}@directory.example`, displayName: `Joan ${this.word}` };
    const made = await this.call("POST", "/scim/v2/Users", { body: person });
    if (made.status !== 201) throw new Error(`a directory could not create a person: ${made.text}`);
    const members = [{ value: (made.json as unknown as { id: string }).id }];
    const group = await this.call("POST", "/scim/v2/Groups", { body: { displayName: `Team ${this.word}`, members } });
    return { scim_token_id: scim_token.scim_token_id, scim_group_id: (group.json as unknown as { id: string }).id };
  }

  async #addIssuer(issuer_key: string): Promise<void> {
    const issuer = `https://${issuer_key}.example`;
    const secret = { client_id: "console", client_secret: `secret-of-${this.word}` };
    await this.#do("POST", "/issuers", { issuer_key, name: `ID of ${this.word}`, issuer, ...secret });
  }

  // The views of a person are settings that only the person's session can change.
  async #askForMails(): Promise<void> {
    const body = { ...noNotifications, views: [this.shared["view_id"]], mentions: true };
    const answer = await this.ask("PUT", `/v2/${this.slug}/notifications`, { headers: this.person, body });
    if (answer.status !== 200) throw new Error(`a person could not switch on e-mails: ${answer.text}`);
  }

  async #fillCases(): Promise<void> {
    type Listed = { cases: { case_id: string; website_account_id: string; case_version: number }[] };
    const listed = await until(async () => {
      const { cases } = await this.#do<Listed>("GET", "/cases");
      return cases.length === 3 ? cases : undefined;
    });
    const caseOf = (account: string) => listed.find((each) => each.website_account_id === account);
    const idOf = (account: string) => caseOf(account)?.case_id ?? "";
    const own_disposition = `outcome-${this.word}`;
    const own_dispositions = [{ name: own_disposition, disposition: "FALSE_POSITIVE" }];
    await this.#do("PUT", "/dispositions", { own_dispositions, dispositions_version: 1 });
    const limits = { blocking: false, amounts: [], includes_clients: false, bulk_over: 500, approval_settings_version: 1 };
    await this.#do("PUT", "/approval-settings", limits);
    const templates = [{ name: this.word, text: `A reason of ${this.word}` }];
    await this.#do("PUT", "/reason-templates", { templates, templates_version: 1 });
    const change = {
      status: "CLOSED",
      case_version: caseOf("user-2")?.case_version,
      reason: this.word,
      disposition: "FALSE_POSITIVE",
      own_disposition,
    };
    const closed = await this.call("PUT", `/cases/${idOf("user-2")}`, { body: change, key: sharedKey });
    if (closed.status !== 200 || closed.headers.has("idempotent-replayed") || !closed.text.includes(idOf("user-2")))
      throw new Error(`the key ${sharedKey} is not free for ${this.slug}: ${closed.status} ${closed.text}`);
    this.shared["case_id"] = idOf("user-1");
    const handing = { case_version: caseOf("user-1")?.case_version, handed_to: "lead", text: `Handed over, says ${this.word}` };
    await this.#do("POST", `/cases/${idOf("user-1")}/handover`, handing, `handover-${this.word}`);
    await this.#do("POST", `/cases/${idOf("user-1")}/notes`, { text: `A note about ${this.word}` }, `note-${this.word}`);
    await this.#do("PUT", `/cases/${idOf("user-1")}/claim`);
    type Whole = { fraud_occurrences: Record<string, { prediction_id: string }> };
    const whole = await this.#do<Whole>("GET", `/cases/${idOf("user-1")}`);
    this.shared["prediction_id"] = Object.values(whole.fraud_occurrences)[0]?.prediction_id ?? "";
    await until(async () => {
      const { status } = await this.#do<{ status: string }>("GET", `/backtests/${this.shared["backtest_id"]}`);
      return ["QUEUED", "RUNNING"].includes(status) ? undefined : status;
    });
    this.own = { ...this.shared, ...this.own };
  }
}

function tokenOf(link: string): string {
  return link.split("#")[1] ?? "";
}

export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + waitMaxMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("the expected state was not reached in time");
    await sleep(pollMs);
  }
}
