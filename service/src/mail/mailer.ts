// Hands e-mails to the operator's mail server.
import { isAddress, type MailSettings } from "./settings.ts";

// `id` is the same in every attempt, so that a mailbox can recognize a duplicate.
export type Mail = { id: string; to: string; subject: string; text: string; settingsUrl: string };

// `isFinal`: the server refused this e-mail permanently. `isServerFault`: the server would not accept any other e-mail now either.
export type Mailed = { isSent: true } | { isSent: false; error: string; isFinal: boolean; isServerFault: boolean };

const connectMs = 10_000;
const silenceMs = 15_000;
// For the whole conversation. A server that sends a few bytes now and then is never silent.
const conversationMs = 60_000;
const errorCharactersMax = 300;
// Faults of the connection or of the login.
const serverCodes = new Set([
  "ECONNECTION",
  "ETIMEDOUT",
  "EDNS",
  "ESOCKET",
  "ETLS",
  "EAUTH",
  "ENOAUTH",
  "EOAUTH2",
  "ECONNREFUSED",
  "EABORT",
]);

const base64 = (text: string) => Buffer.from(text).toString("base64");

export class Mailer {
  readonly #settings: MailSettings;
  #transport: ReturnType<typeof transportOf> | null = null;
  readonly #limitMs: number;

  constructor(settings: MailSettings, limitMs = conversationMs) {
    this.#settings = settings;
    this.#limitMs = limitMs;
  }

  // Connects and logs in, but sends nothing. Returns what is wrong, or null.
  async check(): Promise<string | null> {
    try {
      await (await this.#open()).verify();
      return null;
    } catch (error) {
      return this.#wordsOf(error);
    }
  }

  // `leaving` ends the conversation, for example when the service stops.
  async send({ id, to, subject, text, settingsUrl }: Mail, leaving?: AbortSignal): Promise<Mailed> {
    const { from } = this.#settings;
    const limit = AbortSignal.timeout(this.#limitMs);
    if (!isAddress(to)) return { isSent: false, error: "the address is not valid", isFinal: true, isServerFault: false };
    try {
      const transport = await this.#open();
      await transport.sendMail({
        // Objects, not texts: a text would be parsed, and might turn out to be several addresses.
        from,
        to: { name: "", address: to },
        envelope: { from: from.address, to: [to] },
        subject,
        text,
        messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
        headers: {
          // Keeps automatic replies away.
          "Auto-Submitted": "auto-generated",
          "X-Auto-Response-Suppress": "All",
          "List-Unsubscribe": `<${settingsUrl}>`,
        },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: leaving ? AbortSignal.any([limit, leaving]) : limit,
      });
      return { isSent: true };
    } catch (error) {
      const { code = "", responseCode = 0 } = error as { code?: string; responseCode?: number };
      const isServerFault = serverCodes.has(code);
      const words = limit.aborted ? `the mail server did not finish within ${this.#limitMs / 1000} s` : this.#wordsOf(error);
      return { isSent: false, error: words, isFinal: !isServerFault && responseCode >= 500, isServerFault };
    }
  }

  #open(): ReturnType<typeof transportOf> {
    return (this.#transport ??= transportOf(this.#settings));
  }

  // A server may repeat what it was sent, so the login is removed.
  #wordsOf(error: unknown): string {
    const { user, password } = this.#settings;
    const message = error instanceof Error ? error.message : String(error);
    const secrets =
      user === null || password === null ? [] : [password, base64(password), base64(`\0${user}\0${password}`), base64(user)];
    const clean = secrets.reduce((text, secret) => text.replaceAll(secret, "***"), message);
    return clean.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, errorCharactersMax);
  }
}

export function openMailer(settings: MailSettings | null): Mailer | null {
  return settings && new Mailer(settings);
}

// Loads the library only when it is needed, because it is large and most services send no e-mail.
async function transportOf({ host, port, tls, user, password }: MailSettings) {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host,
    port,
    secure: tls === "start",
    requireTLS: tls === "upgrade",
    ignoreTLS: tls === "off",
    ...(user !== null && password !== null && { auth: { user, pass: password } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: silenceMs,
    tls: { minVersion: "TLSv1.2" },
  });
}
