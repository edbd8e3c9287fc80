import { createServer } from "node:net";
import { codeOf } from "../db/postgres/faults.ts";
import type { Trouble } from "../operator.ts";

const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/;

// Explains why a request to an address got no response, and what the operator has to do.
export async function tellUnreached(url: string, error: unknown): Promise<Trouble> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [first] = cause instanceof AggregateError ? cause.errors : [cause];
  const [code, words] = [codeOf(first), first instanceof Error ? first.message : String(first)];
  const { hostname, port, protocol } = new URL(url);
  const number = Number(port || (protocol === "https:" ? 443 : 80));
  if (isTimeout(error))
    return {
      detail: `${url} did not respond in time`,
      next: "the service or something in between hangs: look in the service's log",
    };
  if (untrusted.test(code))
    return {
      detail: `the certificate of ${url} is not trusted here: ${words}`,
      next: "fix the certificate, or set NODE_EXTRA_CA_CERTS to the file of its authority",
    };
  if (/^(ERR_SSL|EPROTO)/.test(code))
    return {
      detail: `${url} does not use TLS`,
      next: "put a proxy there that terminates TLS, or set a PUBLIC_URL that begins with http://",
    };
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code))
    return {
      detail: `the name ${hostname} cannot be resolved`,
      next: "check PUBLIC_URL, and whether this machine's DNS knows the name",
    };
  const isHere = await isTaken(hostname, number);
  if (isHere || /^(UND_ERR_SOCKET|ECONNRESET|HPE_)/.test(code))
    return {
      detail: `port ${number} is used by a program that does not speak HTTP`,
      next: "stop that program, or set another PORT",
    };
  return { detail: `nothing answers at ${url}`, next: "run npm start, or set PUBLIC_URL to the service's address" };
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && ["TimeoutError", "TimedOut"].includes(error.name);
}

export function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(codeOf(error) === "EADDRINUSE"));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(false)));
  });
}
