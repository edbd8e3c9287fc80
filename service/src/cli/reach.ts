import { createServer } from "node:net";
import { codeOf } from "../db/postgres/database.ts";
import type { Trouble } from "../operator.ts";

const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/;

// Explains why a request to an address got no response, by what the operator has to do.
export async function tellUnreached(url: string, error: unknown): Promise<Trouble> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const [first] = cause instanceof AggregateError ? cause.errors : [cause];
  const [code, words] = [codeOf(first), first instanceof Error ? first.message : String(first)];
  const { hostname, port, protocol } = new URL(url);
  const number = Number(port || (protocol === "https:" ? 443 : 80));
  if (isTimeout(error))
    return { detail: `${url} does not answer in time`, next: "it hangs, or something on the way does: its log says why" };
  if (untrusted.test(code))
    return {
      detail: `the certificate of ${url} is not trusted here: ${words}`,
      next: "mend the certificate, or name its authority's file in NODE_EXTRA_CA_CERTS",
    };
  if (/^(ERR_SSL|EPROTO)/.test(code))
    return {
      detail: `${url} is answered without TLS`,
      next: "a proxy has to end TLS there; without one, PUBLIC_URL begins with http://",
    };
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code))
    return { detail: `the name ${hostname} cannot be resolved`, next: "is PUBLIC_URL right, and the name known here?" };
  const isHere = await isTaken(hostname, number);
  if (isHere || /^(UND_ERR_SOCKET|ECONNRESET|HPE_)/.test(code))
    return {
      detail: `port ${number} is taken by something that does not answer HTTP`,
      next: "stop that, or set PORT to another",
    };
  return { detail: `nothing answers at ${url}`, next: "npm start; or set PUBLIC_URL to where it answers" };
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
