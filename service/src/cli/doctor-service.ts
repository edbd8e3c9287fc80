import { checkClock, fail, ok, type Check } from "./doctor-checks.ts";
import { isTaken, tellUnreached } from "./reach.ts";
import type { Store } from "./store.ts";

const answerTimeoutMs = 3_000;
const name = "service";

// Checks whether the service answers at its address and, if not, what is there instead.
export async function checkService(store: Store): Promise<Check[]> {
  const url = await store.address();
  if (url === null) return [fail(name, "none has been started on this database yet", "npm start"), ...(await checkPorts(store))];
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
    ? ok(name, `${url} answers ${response.status}`)
    : fail(name, `${url} answers ${response.status}: ${body.slice(0, 200)}`, "its log says why");
  return [ready, ...clocks, ...(await checkIssuer(url, await store.publicUrl()))];
}

// Redirects are not followed, because a caller with a token must not be sent elsewhere with it.
function ask(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs), redirect: "manual" });
}

function otherFault(url: string, { status, headers }: Response, body: string): Check | null {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null)
    return fail(name, `${url} redirects to ${location}`, "set PUBLIC_URL to where the service itself answers");
  if (isOurs(body)) return null;
  const next = "set PORT to another, or PUBLIC_URL to where it answers";
  return fail(name, `${url} is answered by something else (${status})`, next);
}

// The service's name is part of every token, so a token that a command mints under another name is rejected. The API document
// contains the name.
async function checkIssuer(url: string, expected: string): Promise<Check[]> {
  const response = await ask(`${url}/openapi.json`).catch(() => null);
  const document = response?.ok === true ? await response.json().catch(() => null) : null;
  const named = (document as { servers?: { url?: string }[] } | null)?.servers?.[0]?.url;
  if (named === undefined || named === expected) return [];
  const detail = `the service calls itself ${named}, and here it is called ${expected}: tokens made here are refused there`;
  return [fail("public url", detail, `set PUBLIC_URL to ${named} here, or start the service with PUBLIC_URL=${expected}`)];
}

// For a service that has not been started yet: checks that its ports are free.
async function checkPorts({ config }: Store): Promise<Check[]> {
  const wanted = [
    { variable: "PORT", host: config.host, port: config.port, other: "set PORT to another" },
    {
      variable: "METRICS_PORT",
      host: config.metricsHost,
      port: config.metricsPort ?? 0,
      other: "set METRICS_PORT to another, or off",
    },
  ];
  const checks: Check[] = [];
  for (const { variable, host, port, other } of wanted)
    if (port !== 0 && (await isTaken(host, port)))
      checks.push(fail("port", `${variable} ${port} is taken by another program`, `stop that, or ${other}`));
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
