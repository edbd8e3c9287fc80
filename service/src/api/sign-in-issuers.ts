import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { lockRoleScopes } from "../db/roles.ts";
import {
  deleteSignInIssuer,
  deleteSubjectsOf,
  insertSignInIssuer,
  listSignInIssuers,
  lockSignInIssuer,
  saveSignInIssuer,
  type StoredIssuer,
} from "../db/sign-in-issuers.ts";
import { lockActiveAdmins } from "../db/users.ts";
import type { EventType } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { requireReach } from "../domain/role.ts";
import { scopes } from "../domain/scope.ts";
import {
  NewSignInIssuer,
  SignInIssuer,
  SignInIssuerChange,
  redirectUriOf,
  signInIssuersMax,
  type RoleMapping,
} from "../domain/sign-in-issuer.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { requireUrl } from "./webhook-common.ts";

const noun = "Issuer";
const initial = {
  extra_scopes: [],
  trusts_emails: false,
  groups_claim: "groups",
  role_groups: [],
  without_group: "refuse",
  default_role: "investigator",
} as const;

type About = { key: string; now: string; data?: Record<string, unknown> };

function eventOf(type: EventType, { caller }: Call, { key, now, data }: About) {
  return { type, occurred_at: now, actor: caller.actor, resource: { type: "issuer" as const, id: key }, ...(data && { data }) };
}

function shown({ publicUrl }: Services, { caller }: Call, row: StoredIssuer): SignInIssuer {
  return { ...row, redirect_uri: redirectUriOf(publicUrl, { slug: caller.slug, issuer_key: row.issuer_key }) };
}

// Whoever runs the issuer can sign in as any person of the tenant who has not signed in through another one, admins included.
function requireAll({ caller }: Call): void {
  requireReach(caller, scopes);
}

async function list(services: Services, call: Call): Promise<Reply> {
  const rows = await listSignInIssuers(services.database, call.caller.tenant_id);
  return dataReply({ issuers: rows.map((row) => shown(services, call, row)) });
}

// The roles cannot be deleted before the transaction ends, nor while an issuer assigns them.
async function requireRoles(tx: Queryable, tenantId: string, { role_groups, default_role }: RoleMapping): Promise<void> {
  const named = [
    ...role_groups.map(({ role }, index) => ({ field: `role_groups[${index}].role`, role })),
    { field: "default_role", role: default_role },
  ];
  const isKnown = new Map<string, boolean>();
  for (const role of new Set(named.map((each) => each.role)))
    isKnown.set(role, (await lockRoleScopes(tx, tenantId, role)) !== undefined);
  const faults = named.filter(({ role }) => isKnown.get(role) !== true);
  if (faults.length > 0) throw invalid(faults.map(({ field }) => ({ field, message: "is not a role of this tenant" })));
}

// Discovery adds a path to the issuer's URL, so it can have no query. If it named the document itself, the library would take the
// issuer's name from there without comparing it with the URL.
function requireIssuerUrl(services: Services, url: string): void {
  requireUrl(services, "issuer", url);
  if (url.includes("?")) throw invalid([{ field: "issuer", message: "must not have a query" }]);
  if (new URL(url).pathname.includes("/.well-known"))
    throw invalid([{ field: "issuer", message: "must be the issuer itself, without /.well-known/" }]);
}

async function create(services: Services, call: Call<NewSignInIssuer>): Promise<Reply> {
  const { caller, body } = call;
  requireAll(call);
  requireIssuerUrl(services, body.issuer);
  const now = services.now();
  const { client_secret, ...open } = body;
  const made = { ...initial, role_groups: [], extra_scopes: [], ...open, created_at: now, updated_at: now };
  await services.database.transaction(async (tx) => {
    // Done first, because it locks the tenant's counter, so no other request can add an issuer after the count.
    await appendEvents(tx, caller.tenant_id, [eventOf("issuer.created", call, { key: body.issuer_key, now, data: open })]);
    if ((await listSignInIssuers(tx, caller.tenant_id)).length >= signInIssuersMax)
      throw invalid([{ field: "issuer_key", message: `must not be added: a tenant has at most ${signInIssuersMax} issuers` }]);
    await requireRoles(tx, caller.tenant_id, made);
    if (!(await insertSignInIssuer(tx, caller.tenant_id, { ...made, client_secret })))
      throw new Failure("item-already-exists", "An issuer with this key or this URL already exists.");
  });
  services.audit("issuer created", { tenant: caller.slug, actor: caller.actor, issuer_key: body.issuer_key });
  return dataReply(shown(services, call, made), 201);
}

async function lockNamed(tx: Queryable, { caller, params }: Call): Promise<StoredIssuer> {
  const key = params["issuer_key"] ?? "";
  const row = /^[a-z0-9-]+$/.test(key) ? await lockSignInIssuer(tx, caller.tenant_id, key) : undefined;
  if (!row) throw notFound(noun, key);
  return row;
}

async function update(services: Services, call: Call<SignInIssuerChange>): Promise<Reply> {
  const { caller, body } = call;
  requireAll(call);
  const now = services.now();
  const { client_secret, ...open } = body;
  const changed = await services.database.transaction(async (tx) => {
    const before = await lockNamed(tx, call);
    const after = { ...before, ...open };
    const isSame = client_secret === undefined && JSON.stringify(after) === JSON.stringify(before);
    if (isSame) return before;
    await requireRoles(tx, caller.tenant_id, after);
    await saveSignInIssuer(tx, caller.tenant_id, { ...after, updated_at: now, client_secret: client_secret ?? null });
    const data = { ...open, ...(client_secret !== undefined && { has_new_secret: true }) };
    await appendEvents(tx, caller.tenant_id, [eventOf("issuer.updated", call, { key: before.issuer_key, now, data })]);
    return { ...after, updated_at: now };
  });
  services.audit("issuer changed", { tenant: caller.slug, actor: caller.actor, issuer_key: changed.issuer_key });
  return dataReply(shown(services, call, changed));
}

async function remove(services: Services, call: Call): Promise<Reply> {
  const { caller } = call;
  requireAll(call);
  const now = services.now();
  const key = await services.database.transaction(async (tx) => {
    const { issuer_key, issuer } = await lockNamed(tx, call);
    const before = await lockActiveAdmins(tx, caller.tenant_id);
    const people = await deleteSubjectsOf(tx, caller.tenant_id, issuer);
    if (before > 0 && (await lockActiveAdmins(tx, caller.tenant_id)) === 0)
      throw invalid([{ field: "issuer_key", message: "must not be deleted: no admin could sign in any more" }]);
    await deleteSignInIssuer(tx, caller.tenant_id, issuer_key);
    await appendEvents(tx, caller.tenant_id, [eventOf("issuer.deleted", call, { key: issuer_key, now, data: { people } })]);
    return issuer_key;
  });
  services.audit("issuer deleted", { tenant: caller.slug, actor: caller.actor, issuer_key: key });
  return { status: 204, body: "", headers: {} };
}

const changing = { scope: "manage:users", tag: "People" } as const;
const reachWords = "The caller must hold every scope, because whoever runs an issuer can sign in as any person of the tenant.";

export const signInIssuerOperations: Operation[] = [
  operation({
    id: "listSignInIssuers",
    method: "GET",
    path: "/issuers",
    scope: "read:users",
    tag: "People",
    summary: "List the issuers that people sign in with",
    description: `OpenID Connect issuers (identity providers), ordered by key, without their secrets. A tenant has at most ${signInIssuersMax}. An issuer that the operator has configured is not listed.`,
    success: {
      status: 200,
      description: "The issuers",
      schema: Type.Object({ issuers: Type.Array(SignInIssuer) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    ...changing,
    id: "createSignInIssuer",
    method: "POST",
    path: "/issuers",
    summary: "Add an issuer",
    description: [
      "People must exist first: signing in creates nobody. The first time, a person is found by an e-mail address that the issuer has verified, and from then on by the issuer's subject. An issuer signs in people of this tenant only.",
      `With \`role_groups\`, the person's groups decide the role at each sign-in. ${reachWords}`,
    ].join("\n\n"),
    body: NewSignInIssuer,
    success: { status: 201, description: "The issuer, without its secret", schema: SignInIssuer },
    problems: ["bad-request", "item-already-exists", "transaction-contended"],
    example: {
      issuer_key: "entra",
      name: "Microsoft Entra ID",
      issuer: "https://id.example/realms/a",
      client_id: "casehound",
      client_secret: "the-client-secret",
      role_groups: [{ group: "fraud-leads", role: "lead" }],
      without_group: "refuse",
    },
    handle: create,
  }),
  operation({
    ...changing,
    id: "updateSignInIssuer",
    method: "PUT",
    path: "/issuers/{issuer_key}",
    summary: "Change an issuer",
    description: `Omitted members do not change, including the secret. The change applies from the next sign-in on. ${reachWords}`,
    body: SignInIssuerChange,
    success: { status: 200, description: "The issuer after the change", schema: SignInIssuer },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    example: { name: "Entra ID" },
    handle: update,
  }),
  operation({
    ...changing,
    id: "deleteSignInIssuer",
    method: "DELETE",
    path: "/issuers/{issuer_key}",
    summary: "Delete an issuer",
    description: `Everybody who signed in through it is signed out. They can still sign in another way, for example with a password. Refused if it would leave no admin able to sign in. ${reachWords}`,
    success: { status: 204, description: "The issuer is deleted" },
    problems: ["item-not-found", "validation-error", "transaction-contended"],
    handle: remove,
  }),
];
