import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "../../service/src/db/postgres/sql.ts";
import type { Credentials, ServiceProcess } from "../../service/test/launch.ts";
import { PeopleIssuer, clientSecret } from "../../service/test/people-issuer.ts";
import { send, type Answer, type Options } from "../../service/test/send.ts";
import { Stand } from "../stand.ts";
import { foreignJwk, recipeOf, type Recipe } from "./forge.ts";

export type Tenant = Credentials & { tenant_id: string };
export type Session = { cookie: string; csrf: string; email: string };
export const password = "correct horse battery staple";
const formType = { "content-type": "application/x-www-form-urlencoded" };

// A running service with two tenants, a signed-in person, another issuer, and an attacker with a server.
export class Scene {
  readonly stand: Stand;
  readonly service: ServiceProcess;
  readonly issuer: PeopleIssuer;
  readonly tenant: Tenant;
  readonly other: Tenant;
  readonly #attacker: Server;
  attackerVisits = 0;
  token = "";
  // A client that may only read cases.
  narrow: Tenant = undefined as never;
  narrowToken = "";
  // The token of a client that was revoked after the token had been used.
  revokedToken = "";
  recipe: Recipe = undefined as never;
  session: Session = undefined as never;
  // The session of another person of the tenant, and one that has ended.
  otherSession: Session = undefined as never;
  endedSession: Session = undefined as never;

  private constructor(stand: Stand, service: ServiceProcess, issuer: PeopleIssuer, [tenant, other]: [Tenant, Tenant]) {
    this.stand = stand;
    this.service = service;
    this.issuer = issuer;
    this.tenant = tenant;
    this.other = other;
    this.#attacker = createServer((_request, response) => {
      this.attackerVisits++;
      response.end(JSON.stringify({ keys: [foreignJwk] }));
    });
  }

  static async open(): Promise<Scene> {
    const stand = await Stand.open();
    const issuer = await PeopleIssuer.start();
    const tenants: [Tenant, Tenant] = [await stand.tenant(), await stand.tenant()];
    const service = await stand.start({
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: "console",
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_TENANT: tenants[0].tenant,
    });
    const scene = new Scene(stand, service, issuer, tenants);
    await issuer.admit({ url: scene.url }, { isEmailInIdToken: true });
    await scene.#prepare();
    return scene;
  }

  async #prepare(): Promise<void> {
    await new Promise<void>((resolve) => this.#attacker.listen(0, "127.0.0.1", resolve));
    this.token = await this.tokenOf(this.tenant);
    this.recipe = await recipeOf(this.stand.database, this.token);
    await this.#must("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
    this.narrow = await this.#client(["read:cases"]);
    this.narrowToken = await this.tokenOf(this.narrow);
    const doomed = await this.#client(["read:cases", "update:enduseraccount"]);
    this.revokedToken = await this.tokenOf(doomed);
    await this.#must("GET", "/cases", { token: this.revokedToken });
    await this.#must("DELETE", `/clients/${doomed.client_id}`);
    this.session = await this.#join("admin");
    this.otherSession = await this.#join("lead");
    this.endedSession = await this.#join("lead");
    const { cookie, csrf } = this.endedSession;
    await send(this.port, "POST", "/auth/sign-out", { headers: { cookie, "x-csrf-token": csrf } });
  }

  async #client(scopes: string[]): Promise<Tenant> {
    const { json } = await this.#must("POST", "/clients", { body: { scopes } });
    const { client, client_secret } = json.data as { client: { client_id: string }; client_secret: string };
    return { ...this.tenant, client_id: client.client_id, client_secret };
  }

  // A new person of the tenant, signed in through the invitation.
  async #join(role: string): Promise<Session> {
    const email = `${crypto.randomUUID()}@shop.example`;
    const invited = await this.#must("POST", "/users", { body: { email, name: "Ada", role } });
    const { link } = invited.json.data as { link: { url: string } };
    const body = { token: link.url.split("#")[1] ?? "", password };
    const answer = await send(this.port, "POST", "/auth/link/use", { body });
    const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    return { cookie, csrf: (answer.json as unknown as { csrf_token: string }).csrf_token, email };
  }

  async #must(method: string, path: string, options: Options = {}): Promise<Answer> {
    const answer = await this.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path} returned ${answer.status}: ${answer.text}`);
    return answer;
  }

  get port(): number {
    return this.service.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get attackerUrl(): string {
    // A TCP server's address is never a string.
    return `http://127.0.0.1:${(this.#attacker.address() as AddressInfo).port}/jwks.json`;
  }

  call(method: string, path: string, options: Options = {}, tenant = this.tenant): Promise<Answer> {
    return send(this.port, method, `/v2/${tenant.tenant}${path}`, { token: this.token, ...options });
  }

  askToken(form: Record<string, string> | [string, string][], headers: Record<string, string> = {}): Promise<Answer> {
    const rawBody = new URLSearchParams(form).toString();
    return send(this.port, "POST", "/v2/oauth/token", { rawBody, headers: { ...formType, ...headers } });
  }

  async tokenOf({ client_id, client_secret }: Credentials): Promise<string> {
    const answer = await this.askToken({ grant_type: "client_credentials", client_id, client_secret });
    return (answer.json as unknown as { access_token: string }).access_token;
  }

  // A digest of everything that an attack could change, and whether the attacker was asked for keys.
  async state(): Promise<string> {
    const rows = await this.stand.database.query<{ state: string }>(sql`
      select concat_ws(' ',
        (select md5(string_agg(a::text, ',' order by a::text)) from accounts as a),
        (select md5(string_agg(c::text, ',' order by c::text)) from clients as c),
        (select md5(string_agg(k::text, ',' order by k::text)) from signing_keys as k),
        (select md5(string_agg(t::text, ',' order by t::text)) from tenants as t),
        (select count(*) from events),
        (select count(*) from users where external_subject is not null)) as state`);
    return `${rows[0]?.state} ${this.attackerVisits}`;
  }

  async close(): Promise<void> {
    this.#attacker.closeAllConnections();
    this.#attacker.close();
    await this.issuer.close();
    await this.stand.close();
  }
}
