// Reads SMTP_URL and MAIL_FROM.
import { isIP } from "node:net";

export type MailSettings = {
  host: string;
  port: number;
  // `start`: TLS from the first byte. `upgrade`: STARTTLS, which the server must offer. `off`: no TLS.
  tls: "start" | "upgrade" | "off";
  user: string | null;
  password: string | null;
  from: { name: string; address: string };
};

const standardPorts = { "smtp:": 587, "smtps:": 465 };
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const addressPattern = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

// Whether the text is one plain address. Anything else could become several, or an instruction to the server.
export function isAddress(text: string): boolean {
  return addressPattern.test(text) && text.length <= 254 && !unseen.test(text);
}

// Returns null without SMTP_URL, or a text that says what is wrong. The text never contains the URL, which holds a password.
export function readMailSettings(given: { url: string | null; from: string | null }): MailSettings | string | null {
  if (given.url === null) return given.from === null ? null : "MAIL_FROM is set, but SMTP_URL is not";
  if (given.from === null) return "MAIL_FROM must be set if SMTP_URL is: the address that e-mails come from";
  const url = URL.parse(given.url);
  if (!url || (url.protocol !== "smtp:" && url.protocol !== "smtps:") || url.hostname === "")
    return "SMTP_URL must be an address such as smtp://user:password@mail.example:587 or smtps://user:password@mail.example";
  const from = readSender(given.from);
  if (from === null) return "MAIL_FROM must be an e-mail address, such as alerts@example.com or Casehound <alerts@example.com>";
  const login = readLogin(url);
  if (typeof login === "string") return login;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tls = readTls(url, host);
  if (tls === null) return "SMTP_URL must have no path, and no parameter other than tls=required or tls=off";
  if (tls === "off" && login.password !== null && !isLoopback(host))
    return "SMTP_URL must not have a password if it has tls=off: the password would be sent in clear text";
  return { host, port: Number(url.port) || standardPorts[url.protocol], tls, ...login, from };
}

function readSender(text: string): MailSettings["from"] | null {
  const [, name = "", address = text] = /^([^<>"]*)<([^<>]+)>$/.exec(text) ?? [];
  return isAddress(address) && !unseen.test(name) ? { name: name.trim(), address } : null;
}

function readLogin({ username, password }: URL): Pick<MailSettings, "user" | "password"> | string {
  if (username === "" && password === "") return { user: null, password: null };
  if (username === "" || password === "") return "SMTP_URL must have both a user and a password, or neither";
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return "SMTP_URL must percent-encode special characters of the user and the password";
  }
}

function readTls({ protocol, pathname, search, hash, searchParams }: URL, host: string): MailSettings["tls"] | null {
  const wanted = searchParams.get("tls");
  const isPlain = (pathname === "" || pathname === "/") && hash === "" && (search === "" || search === `?tls=${wanted}`);
  if (!isPlain || (wanted !== null && wanted !== "required" && wanted !== "off")) return null;
  if (protocol === "smtps:") return wanted === "off" ? null : "start";
  // Nobody can listen on the way to a server on the same machine.
  return wanted === "off" || (wanted === null && isLoopback(host)) ? "off" : "upgrade";
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
