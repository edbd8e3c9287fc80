import type { IncomingMessage } from "node:http";

const names = {
  session: "casehound_session",
  oidc: "casehound_oidc",
  device: "casehound_device",
  ticket: "casehound_ticket",
  challenge: "casehound_challenge",
};
type CookieName = keyof typeof names;

// Over https, the __Host- prefix makes browsers reject a cookie that another host or an insecure page has set.
export class Cookies {
  readonly #isSecure: boolean;

  constructor(publicUrl: string) {
    this.#isSecure = publicUrl.startsWith("https:");
  }

  read(request: IncomingMessage, name: CookieName): string | undefined {
    const wanted = this.#nameOf(name);
    const pair = (request.headers.cookie ?? "")
      .split(";")
      .map((each) => each.trim())
      .find((each) => each.startsWith(`${wanted}=`));
    return pair?.slice(wanted.length + 1);
  }

  // The session's and the browser's cookies are never sent with a request that another site starts. The console's pages need no
  // session; only the requests that they make do. The cookie for the external issuer must come back with the browser from there.
  write(name: CookieName, value: string, maxAgeSeconds: number): string {
    const site = name === "oidc" ? "Lax" : "Strict";
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#nameOf(name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${site}${secure}`;
  }

  clear(name: CookieName): string {
    return this.write(name, "", 0);
  }

  #nameOf(name: CookieName): string {
    return `${this.#isSecure ? "__Host-" : ""}${names[name]}`;
  }
}
