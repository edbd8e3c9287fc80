// A real mail server on a port of its own. It delivers to a folder, which tests read.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findMailServer } from "../../scripts/mail-server.ts";

type Settings = { login?: { user: string; password: string }; pem?: string; hasStartTls?: boolean };
export type Delivered = { headers: Map<string, string>; headerText: string; text: string; to: string };

const script = fileURLToPath(new URL("mail-server.py", import.meta.url));
// A certificate and its key for 127.0.0.1. Only processes with NODE_EXTRA_CA_CERTS trust it.
export const pemFile = fileURLToPath(new URL("mail-server.pem", import.meta.url));

export class MailServer {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  static async start({ login, pem, hasStartTls = false }: Settings = {}): Promise<MailServer> {
    const python = findMailServer();
    if (python === null) throw new Error("there is no mail server: npm run test:slow installs one");
    const folder = mkdtempSync(join(tmpdir(), "casehound-mail-"));
    const settings = { folder: join(folder, "mailbox"), login: login ?? null, pem: pem ?? null, starttls: hasStartTls };
    const child = spawn(python, [script, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(Number(text)));
      child.once("close", () => reject(new Error("the mail server ended before it was up")));
    });
    return new MailServer(port, folder, child);
  }

  // Everything delivered so far, in order of the files' names, which begin with the time.
  mails(): Delivered[] {
    const inbox = join(this.#folder, "mailbox", "new");
    const files = readdirSync(inbox).toSorted();
    return files.map((file) => parse(readFileSync(join(inbox, file), "utf8")));
  }

  mailsTo(address: string): Delivered[] {
    return this.mails().filter(({ to }) => to === address);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    if (this.#child.kill()) await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

// The server writes the envelope's recipients into X-RcptTo.
function parse(raw: string): Delivered {
  const [, headerText = "", body = ""] = /^([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(raw) ?? [];
  const lines = headerText.replaceAll(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  const text = decode(body, headers.get("content-transfer-encoding") ?? "7bit");
  return { headers, headerText, text, to: headers.get("x-rcptto") ?? "" };
}

function decode(body: string, encoding: string): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding !== "quoted-printable") return body.replaceAll("\r\n", "\n");
  const joined = body.replaceAll(/=\r?\n/g, "");
  const bytes = joined.replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCodePoint(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString().replaceAll("\r\n", "\n");
}
