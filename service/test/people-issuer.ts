import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import type { Service } from "../src/service.ts";

export type Subject = { sub: string; email?: string; email_verified?: boolean; groups?: unknown; _claim_names?: unknown };
export const clientSecret = "a secret that the two share";

async function newKey() {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: "RS256", use: "sig" };
}

// An identity provider like a customer's, where people sign in. It lets the person in `at` sign in without asking.
export class PeopleIssuer {
  readonly #server: Server;
  #provider: Provider | null = null;
  #key: ReturnType<typeof newKey> | null = null;
  #port = 0;
  readonly #subjects = new Map<string, Subject>();
  at: Subject | "cancels" = "cancels";

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<PeopleIssuer> {
    const issuer = new PeopleIssuer();
    await issuer.open();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    // A TCP server's address is never a string.
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  // The service is registered once its port is known.
  async admit(
    service: Pick<Service, "url">,
    { isEmailInIdToken, paths = ["/auth/oidc/callback"] }: { isEmailInIdToken: boolean; paths?: string[] },
  ): Promise<void> {
    this.#key ??= newKey();
    this.#provider = new Provider(this.url, {
      jwks: { keys: [await this.#key] },
      cookies: { keys: ["a key of its own"] },
      clients: [
        { client_id: "console", client_secret: clientSecret, redirect_uris: paths.map((path) => `${service.url}${path}`) },
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups", "_claim_names"] },
      conformIdTokenClaims: !isEmailInIdToken,
      pkce: { required: () => true },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
      findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...this.#subjects.get(id), sub: id }) }),
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      features: { devInteractions: { enabled: false } },
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider;
    if (!provider) return void response.writeHead(503).end();
    if (request.url?.startsWith("/interaction/") !== true) return void provider.callback()(request, response);
    const result = this.at === "cancels" ? { error: "access_denied" } : await this.#consent(provider, this.at);
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  async #consent(provider: Provider, subject: Subject) {
    this.#subjects.set(subject.sub, subject);
    const grant = new provider.Grant({ accountId: subject.sub, clientId: "console" });
    grant.addOIDCScope("openid email profile groups");
    return { login: { accountId: subject.sub }, consent: { grantId: await grant.save() } };
  }

  // Follows a browser's redirects from the service to the issuer, up to the callback URL.
  async travel(service: Pick<Service, "port">, path = "/auth/oidc"): Promise<{ callback: string; cookie: string; asked: URL }> {
    const begun = await fetch(`http://127.0.0.1:${service.port}${path}`, { redirect: "manual" });
    const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const asked = new URL(begun.headers.get("location") ?? "");
    const jar = new Map<string, string>();
    let at = asked.href;
    for (let hops = 0; hops < 6 && at.startsWith(this.url); hops++) {
      const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
      const answer = await fetch(at, { redirect: "manual", headers });
      for (const line of answer.headers.getSetCookie()) {
        const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
        jar.set(name, value);
      }
      at = new URL(answer.headers.get("location") ?? "/nowhere", at).href;
    }
    return { callback: at, cookie, asked };
  }
}
