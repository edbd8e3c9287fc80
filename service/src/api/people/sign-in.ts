import type { IncomingMessage } from "node:http";
import { Type } from "typebox";
import { listFactorKinds } from "../../db/second-factors.ts";
import { findUsersByEmail, lockCheckedUser, type Candidate } from "../../db/users.ts";
import { hostOf, siteOf } from "../../domain/address.ts";
import { slugCharacters } from "../../domain/slug.ts";
import { normalEmail, type Person } from "../../domain/user.ts";
import { unauthorized } from "../http/identity.ts";
import { problemMediaType, problemMembers, type Reply } from "../http/problem.ts";
import { invalid } from "../http/validate.ts";
import { jsonMediaType } from "../operation.ts";
import { limitAttempts, type Checked } from "./attempts.ts";
import { findMatches, type Asker } from "./password.ts";
import {
  TypedPassword,
  addressOf,
  readInput,
  rememberAddress,
  signedIn,
  tenantsMax,
  withHash,
  type Asked,
  type People,
} from "./people.ts";

const SignIn = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: TypedPassword,
    tenant: Type.Optional(Type.String({ minLength: 1, maxLength: slugCharacters.max })),
  },
  { additionalProperties: false },
);

// Whether the account's owner has signed in from the same address before, with the same password.
function isUsualAddress(people: People, request: IncomingMessage, account: Candidate): boolean {
  const address = addressOf(people, request);
  if (address === undefined || account.password_hash === null) return false;
  const seal = people.devices.sealAddress(hostOf(address), account);
  return account.usual_addresses.some((each) => each.equals(seal));
}

export async function signIn(people: People, asked: Asked): Promise<Reply> {
  const { sessions, devices, database, audit } = people;
  const { request } = asked;
  sessions.requireOwnOrigin(request);
  const { email, password, tenant } = await readInput(asked, SignIn);
  const typed = { email: normalEmail(email), slug: tenant ?? null };
  const candidates = await findUsersByEmail(database, { ...typed, limit: tenantsMax });
  const slugs = tenant === undefined ? candidates.map(({ slug }) => slug) : [tenant];
  const device = devices.find(request, candidates);
  const address = addressOf(people, request);
  const usualSlugs = candidates.filter((each) => isUsualAddress(people, request, each)).map(({ slug }) => slug);
  const known = device?.id ?? (usualSlugs.length > 0 ? `${address} ${typed.email}` : null);
  const asker: Asker = known === null ? { kind: "stranger", name: siteOf(address ?? "unknown") } : { kind: "known", name: known };
  const [person, ...others] = await limitAttempts(people, request, { email: typed.email, slugs, device, usualSlugs }, (open) =>
    checkPassword(
      password,
      candidates.filter(({ slug }) => open.has(slug)),
      asker,
    ),
  );
  if (person && others.length > 0) return whichTenant([person, ...others].map(({ slug }) => slug));
  const reply = person && (await enter(people, request, person));
  if (reply) return reply;
  audit("sign-in failed", { address });
  throw unauthorized("The e-mail or the password is wrong.", false);
}

type WithPassword = Person & { password_hash: string };

// Opens a session, or asks for the second factor if the person has one. Returns null if the password has changed since it was
// checked, because the check took a while.
async function enter(people: People, request: IncomingMessage, person: WithPassword): Promise<Reply | null> {
  const { sessions, devices, database, audit } = people;
  const opened = await database.transaction(async (tx) => {
    const locked = await lockCheckedUser(tx, person.tenant_id, person);
    if (!locked || locked.has_second_factor) return locked && null;
    await rememberAddress(people, tx, request, person);
    return sessions.open(tx, person, { hasSecondFactor: false });
  });
  if (opened === undefined) return null;
  if (opened === null) return askSecondFactor(people, person);
  await sessions.drop(request);
  audit("signed in", { tenant: person.slug, user_id: person.user_id, how: "password", address: addressOf(people, request) });
  return signedIn(people, opened, [opened.cookie, devices.remember(request, person)]);
}

// Nobody is signed in yet. The ticket lets this browser try codes.
export async function askSecondFactor({ database, tickets, now }: People, person: WithPassword): Promise<Reply> {
  const kinds = [...(await listFactorKinds(database, person.tenant_id, person.user_id)), "recovery-code"];
  return {
    status: 200,
    body: JSON.stringify({ second_factor: { kinds } }),
    headers: { "content-type": jsonMediaType },
    cookies: [tickets.issue(person, now())],
  };
}

// Always hashes once, so timing reveals neither unknown e-mail addresses nor people who are disabled or have no password yet, nor
// how many tenants know the e-mail. Passwords that an earlier release stored may have several salts, and take a hash for each.
async function checkPassword(
  password: string,
  candidates: Candidate[],
  asker: Asker,
): Promise<Checked<Candidate & { password_hash: string }>> {
  const open = candidates.filter(({ is_disabled }) => !is_disabled).flatMap((each) => withHash(each));
  const matches = await findMatches(
    password,
    open.map(({ password_hash }) => password_hash),
    asker,
  );
  const { fitting = [], missed = [] } = Object.groupBy(open, (each) => (matches.has(each.password_hash) ? "fitting" : "missed"));
  return { fitting, missed };
}

// The password was right, so its owner may learn where the e-mail is known.
function whichTenant(tenants: string[]): Reply {
  const fault = invalid([{ field: "tenant", message: `must be one of ${tenants.join(", ")}` }]);
  const body = JSON.stringify({ ...problemMembers(fault), tenants });
  return { status: 422, body, headers: { "content-type": problemMediaType }, fault };
}
