import { problemMediaType } from "../../service/src/api/http/problem.ts";
import { type Answer, type RawAnswer } from "../../service/test/send.ts";
import type { Scene } from "./scene.ts";

export type Seen = Answer | RawAnswer;

// `source` is a section of RFC 8725 (JSON Web Token best current practices), RFC 9700 (OAuth 2.0 best current practices), RFC
// 6750 or RFC 9068. `expected` is the status and problem type, or the problem's name if the browser returns from another issuer.
export type Attack = { name: string; source: string; expected: string; attempt: (scene: Scene) => Promise<Seen[]> };

export type Tried = { attempts: number; violations: string[] };

function headerOf(seen: Seen, name: string): string {
  return (seen.headers instanceof Headers ? seen.headers.get(name) : seen.headers[name]) ?? "";
}

// In the format of `expected`.
export function outcomeOf(seen: Seen, scene: Scene): string {
  if (seen.status === 303) return `303 ${redirectOf(seen, scene)}`;
  if (headerOf(seen, "content-type") !== problemMediaType) return `${seen.status} without a problem`;
  const { type, status } = JSON.parse(seen.text) as { type: string; status: number };
  return status === seen.status ? `${status} ${type}` : `${seen.status} with a problem of ${status}`;
}

function redirectOf(seen: Seen, { url }: Scene): string {
  const location = headerOf(seen, "location");
  const hasSession = headerOf(seen, "set-cookie").includes("casehound_session=");
  if (hasSession) return "with a session";
  return location.startsWith(`${url}/sign-in?problem=`) ? location.slice(`${url}/sign-in?problem=`.length) : `to ${location}`;
}

async function faultsOf(attack: Attack, scene: Scene, before: string): Promise<Tried> {
  const seen = await attack.attempt(scene);
  const violations = seen
    .map((each) => outcomeOf(each, scene))
    .filter((outcome) => outcome !== attack.expected)
    .map((outcome) => `${attack.name} (${attack.source}): got ${outcome}, not ${attack.expected}`);
  const secrets = [scene.token, scene.tenant.client_secret, scene.session.cookie];
  if (seen.some(({ text }) => secrets.some((secret) => text.includes(secret))))
    violations.push(`${attack.name} (${attack.source}): the response contains a secret`);
  if (seen.length === 0) violations.push(`${attack.name} (${attack.source}): nothing was tried`);
  if ((await scene.state()) !== before) violations.push(`${attack.name} (${attack.source}): something was changed`);
  return { attempts: seen.length, violations };
}

// Valid requests must succeed. Otherwise a service that rejects everything would pass.
async function control(scene: Scene, when: string): Promise<string[]> {
  const [read, write] = await Promise.all([scene.call("GET", "/cases"), scene.call("PUT", "/enduseraccounts/a", { body: {} })]);
  return read.status === 200 && write.status === 200 ? [] : [`${when} the valid token got ${read.status} and ${write.status}`];
}

export async function tryAttacks(scene: Scene, attacks: Attack[], onTried: (done: number) => void = () => {}): Promise<Tried> {
  const violations = await control(scene, "before all attacks");
  let attempts = 0;
  for (const [index, attack] of attacks.entries()) {
    const tried = await faultsOf(attack, scene, await scene.state());
    attempts += tried.attempts;
    violations.push(...tried.violations, ...(await control(scene, `after ${attack.name}`)));
    onTried(index + 1);
  }
  return { attempts, violations };
}
