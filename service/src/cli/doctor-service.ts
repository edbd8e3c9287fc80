import { checkClock, fail, ok, type Check } from "./doctor-checks.ts";
import { isTaken, tellUnreached } from "./reach.ts";
import type { Store } from "./store.ts";

const answerTimeoutMs = 3_000;
const name = "service";

// Checks whether the service answers at its address and, if not, what is there instead.
export async function checkService(store: Store): Promise<Check[]> {
  const url = await store.address();
  if (url === null)
    return [fail(name, "no service has been started on this database yet", "run npm start"), ...(await checkPorts(store))];
  let response: Response;
  try {
    response = await ask(`${url}/readyz`);
  } catch (error) {
    const { detail, next } = await tellUnreached(url, error);
    return [fail(name, detail, next), ...(detail.startsWith("nothing") ? await checkPorts(store) : [])];
  }
  const body = await response.text().catch(() => "");
  const other = otherFault(url, response, body);
  if (other) return [other];
  const there = Date.parse(response.headers.get("date") ?? "");
  const clocks = Number.isNaN(there) ? [] : [checkClock(Math.floor(Date.now() / 1000) * 1000, there, "the service")];
  const ready = response.ok
    ? ok(name, `${url} returned ${response.status}`)
    : fail(name, `${url} returned ${response.status}: ${body.slice(0, 200)}`, "look in its log");
  return [ready, ...clocks, ...(await checkIssuer(url, await store.publicUrl()))];
}

// Redirects are not followed, because a caller with a token must not be sent elsewhere with it.
function ask(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs), redirect: "manual" });
}

function otherFault(url: string, { status, headers }: Response, body: string): Check | null {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null)
    return fail(name, `${url} redirects to ${location}`, "set PUBLIC_URL to the service's own address");
  if (isOurs(body)) return null;
  const next = "set another PORT, or set PUBLIC_URL to the service's address";
  return fail(name, `another program answers at ${url} (${status})`, next);
}

// The service's name is part of every token, so a token that a command mints under another name is rejected. The API document
// contains the name.
async function checkIssuer(url: string, expected: string): Promise<Check[]> {
  const response = await ask(`${url}/openapi.json`).catch(() => null);
  const document = response?.ok === true ? await response.json().catch(() => null) : null;
  const named = (document as { servers?: { url?: string }[] } | null)?.servers?.[0]?.url;
  if (named === undefined || named === expected) return [];
  const detail = `the service's PUBLIC_URL is ${named}, but here it is ${expected}, so the service rejects tokens minted here`;
  return [fail("public url", detail, `set PUBLIC_URL to ${named} here, or start the service with PUBLIC_URL=${expected}`)];
}

// For a service that has not been started yet: checks that its ports are free.
async function checkPorts({ config }: Store): Promise<Check[]> {
  const wanted = [
    { variable: "PORT", host: config.host, port: config.port, other: "set another PORT" },
    {
      variable: "METRICS_PORT",
      host: config.metricsHost,
      port: config.metricsPort ?? 0,
      other: "set another METRICS_PORT, or off",
    },
  ];
  const checks: Check[] = [];
  for (const { variable, host, port, other } of wanted)
    if (port !== 0 && (await isTaken(host, port)))
      checks.push(fail("port", `${variable} ${port} is used by another program`, `stop that program, or ${other}`));
  return checks;
}

// Whether the body is a response of /readyz or one of our problem documents.
function isOurs(body: string): boolean {
  try {
    const answer: unknown = JSON.parse(body);
    return (
      typeof answer === "object" && answer !== null && ("address_data" in answer || ("type" in answer && "detail" in answer))
    );
  } catch {
    return false;
  }
}
