import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Role } from "../src/domain/role.ts";
import type { User, UserLink } from "../src/domain/user.ts";
import type { Service } from "../src/service.ts";
import { send, type Answer, type Options, type TestTenant } from "./harness.ts";

export const goodPassword = "correct horse battery staple";

export function newEmail(): string {
  return `${randomUUID()}@shop.example`;
}

export type SignedIn = {
  user: { user_id: string; email: string; name: string; role: Role };
  tenant: { tenant_id: string; slug: string };
  scopes: string[];
  csrf_token: string;
  expires_at: string;
};

export function tokenOf(link: string): string {
  return link.split("#")[1] ?? "";
}

// The Set-Cookie lines of a response, by cookie name.
export function cookiesOf(answer: { headers: Headers }): Map<string, string> {
  return new Map(answer.headers.getSetCookie().map((line) => [line.split("=")[0] ?? "", line]));
}

type Others = Record<"user_id" | "client_id" | "role_name" | "issuer_key" | "scim_token_id" | "scim_group_id", string>;

// Creates a user, an API client, a role, an issuer, a SCIM token and a group, for tests that need only their ids.
export async function makeOthers(tenant: TestTenant): Promise<Others> {
  const { user } = await invite(tenant, "investigator");
  const made = await tenant.call("POST", "/clients", { body: { scopes: ["read:cases"] } });
  const { client } = made.json.data as { client: { client_id: string } };
  const role_name = `role-${randomUUID().slice(0, 8)}`;
  await tenant.call("POST", "/roles", { body: { role: role_name, scopes: ["read:cases"] } });
  const issuer_key = `issuer-${randomUUID().slice(0, 8)}`;
  const issuer = { issuer_key, name: "Shop ID", issuer: `https://${issuer_key}.example`, client_id: "c", client_secret: "s" };
  await tenant.call("POST", "/issuers", { body: issuer });
  const directory = await makeDirectory(tenant);
  return { user_id: user.user_id, client_id: client.client_id, role_name, issuer_key, ...directory };
}

async function makeDirectory(tenant: TestTenant): Promise<{ scim_token_id: string; scim_group_id: string }> {
  const name = `directory-${randomUUID().slice(0, 8)}`;
  const made = await tenant.call("POST", "/scim/tokens", { body: { name } });
  const { scim_token } = made.json.data as { scim_token: { scim_token_id: string } };
  const group = await tenant.call("POST", "/scim/v2/Groups", { body: { displayName: name } });
  const { id } = group.json as unknown as { id: string };
  return { scim_token_id: scim_token.scim_token_id, scim_group_id: id };
}

export async function invite(
  tenant: TestTenant,
  role: Role,
  { email = newEmail(), name = "Ada Lovelace" } = {},
): Promise<{ user: User; link: UserLink }> {
  const answer = await tenant.call("POST", "/users", { body: { email, name, role } });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

// An address of the caller's own, because failures are counted by address.
export function somewhere(): Record<string, string> {
  const octets =
    randomUUID()
      .match(/[0-9a-f]{2}/g)
      ?.slice(0, 3) ?? [];
  return { "x-forwarded-for": `10.${octets.map((octet) => parseInt(octet, 16)).join(".")}` };
}

export function signIn(service: Service, body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Answer> {
  return send(service.port, "POST", "/auth/sign-in", { body, headers: { ...somewhere(), ...headers } });
}

export function readLink(service: Service, link: string): Promise<Answer> {
  return send(service.port, "POST", "/auth/link", { body: { token: tokenOf(link) } });
}

export function useLink(
  service: Service,
  link: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = { token: tokenOf(link), password: goodPassword, ...more };
  return send(service.port, "POST", "/auth/link/use", { body, headers });
}

// A browser that keeps the session's cookie and CSRF token, and sends both.
export class Browser {
  readonly service: Service;
  readonly #address = somewhere();
  cookie: string;
  signedIn: SignedIn;

  constructor(service: Service, answer: Answer) {
    expect(answer.status, answer.text).toBe(200);
    this.service = service;
    const [line = ""] = answer.headers.getSetCookie();
    this.cookie = line.split(";")[0] ?? "";
    this.signedIn = answer.json as unknown as SignedIn;
  }

  static async take(service: Service, link: string, body: Record<string, unknown> = {}): Promise<Browser> {
    return new Browser(service, await useLink(service, link, body));
  }

  // Returns the browser of a new user who has just used the invitation.
  static async join(tenant: TestTenant, role: Role, who: { email?: string; name?: string } = {}): Promise<Browser> {
    const { link } = await invite(tenant, role, who);
    return Browser.take(tenant.service, link.url);
  }

  static async signIn(service: Service, email: string, password = goodPassword): Promise<Browser> {
    return new Browser(service, await signIn(service, { email, password }));
  }

  // Calls any path of the service. The given headers replace those that a browser would send.
  ask(method: string, path: string, options: Options = {}, service = this.service): Promise<Answer> {
    const own = { ...this.#address, cookie: this.cookie, ...(method !== "GET" && { "x-csrf-token": this.signedIn.csrf_token }) };
    const headers = Object.fromEntries(Object.entries({ ...own, ...options.headers }).filter(([, value]) => value !== ""));
    return send(service.port, method, path, { ...options, headers });
  }

  call(method: string, path: string, options: Options = {}, service = this.service): Promise<Answer> {
    return this.ask(method, `/v2/${this.signedIn.tenant.slug}${path}`, options, service);
  }
}
