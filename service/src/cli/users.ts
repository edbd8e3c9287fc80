import type { TSchema } from "typebox";
import { makeSetUpLink } from "../api/people/links.ts";
import { resetFactors } from "../api/user-factors.ts";
import { inviteUser, saveUserChange } from "../api/users.ts";
import { validate } from "../api/http/validate.ts";
import { clock } from "../clock.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { findTenant, type TenantRow } from "../db/tenants.ts";
import { listUsers, lockUser } from "../db/users.ts";
import { Failure } from "../domain/failure.ts";
import { roles } from "../domain/role.ts";
import { NewUser, normalEmail, type User } from "../domain/user.ts";
import { UsageFault, readSlug, tenantOption, textOption, type Call, type Command, type Outcome } from "./command.ts";
import type { Wants } from "./store.ts";
import { cellText, rows, table } from "./table.ts";

// The actor in the tenant's events.
const actor = "command line";
const schema: TSchema = NewUser;

async function requireTenant({ store, options }: Call): Promise<TenantRow> {
  const slug = readSlug(textOption(options, "tenant") ?? "demo");
  const tenant = await findTenant(store.database, slug);
  if (!tenant) throw new Failure("item-not-found", `there is no tenant ${slug}`);
  return tenant;
}

function readNewUser({ positionals, options }: Call): NewUser {
  const email = normalEmail(positionals[0] ?? "");
  const role = textOption(options, "role") ?? "";
  if (role === "") throw new UsageFault(`--role must be one of ${roles.join(", ")}, or a role of the tenant`);
  const wanted = { email, name: textOption(options, "name") ?? email.split("@")[0] ?? "", role };
  try {
    validate(schema, wanted);
  } catch (error) {
    const [fault] = (error instanceof Failure && error.errors) || [];
    if (fault?.field === "email") throw new UsageFault(`${cellText(email)} is not an e-mail address`);
    throw fault ? new UsageFault(`${fault.field} ${fault.message}`) : error;
  }
  return wanted;
}

async function create(call: Call): Promise<Outcome> {
  const wanted = readNewUser(call);
  const tenant = await requireTenant(call);
  const by = { actor, now: clock.now(), publicUrl: await call.store.publicUrl() };
  const user_id = clock.newId(by.now);
  const { user, link } = await call.store.database.transaction((tx) =>
    inviteUser(tx, tenant.tenant_id, { ...wanted, user_id }, by),
  );
  const result = {
    tenant: tenant.slug,
    user_id,
    email: user.email,
    role: user.role,
    link: link.url,
    expires_at: link.expires_at,
  };
  return { result, text: `${rows(result)}\nThe link works once and is shown only once.` };
}

// For a first admin who has lost the link that the service prints when it starts.
async function setUp(call: Call): Promise<Outcome> {
  const { slug } = await requireTenant(call);
  const wanted = { publicUrl: await call.store.publicUrl(), now: clock.now() };
  const link = await call.store.database.transaction((tx) => makeSetUpLink(tx, slug, wanted));
  if (!link)
    throw new Failure(
      "item-already-exists",
      `tenant ${slug} already has users: to invite another admin, run user create <email> --role admin`,
    );
  const result = { tenant: slug, link: link.url, expires_at: link.expires_at };
  return {
    result,
    text: `${rows(result)}\nThe link creates the first admin. It works once, for 15 minutes, and replaces earlier ones.`,
  };
}

function userCells({ email, role, name, is_disabled, has_password, has_external_sign_in }: User): string[] {
  const hasJoined = has_password || has_external_sign_in;
  return [email, role, is_disabled ? "disabled" : hasJoined ? "active" : "invited", name];
}

async function list(call: Call): Promise<Outcome> {
  const users = await listUsers(call.store.database, (await requireTenant(call)).tenant_id);
  const text = users.length === 0 ? "no users" : table(["email", "role", "state", "name"], users.map(userCells));
  return { result: { users }, text };
}

async function findByEmail(database: Queryable, { tenant_id, slug }: TenantRow, email: string): Promise<User> {
  const user = (await listUsers(database, tenant_id)).find((each) => each.email === email);
  if (!user) throw new Failure("item-not-found", `tenant ${slug} has no user ${email}`);
  return user;
}

// For an admin who has lost both the app and the recovery codes.
async function resetFactor(call: Call): Promise<Outcome> {
  const email = normalEmail(call.positionals[0] ?? "");
  const tenant = await requireTenant(call);
  const by = { actor, now: clock.now(), publicUrl: "" };
  const user = await call.store.database.transaction(async (tx) => {
    const { user_id } = await findByEmail(tx, tenant, email);
    const user = await lockUser(tx, tenant.tenant_id, user_id);
    if (user) await resetFactors(tx, tenant.tenant_id, user, by);
    return user && { ...user, has_second_factor: false };
  });
  return { result: user, text: `${email} no longer has a second factor and is signed out everywhere` };
}

async function disable(call: Call): Promise<Outcome> {
  const email = normalEmail(call.positionals[0] ?? "");
  const tenant = await requireTenant(call);
  const by = { actor, now: clock.now(), publicUrl: "" };
  const user = await call.store.database.transaction(async (tx) => {
    const userId = (await findByEmail(tx, tenant, email)).user_id;
    return saveUserChange(tx, tenant.tenant_id, { userId, change: { is_disabled: true } }, by);
  });
  return { result: user, text: `${email} is disabled and signed out everywhere` };
}

const wants: Wants = { schema: "current", newDatabase: false };

export const userCommands: Command[] = [
  {
    name: "user create",
    usage: "user create <email> --role <role> [--tenant <slug>] [--name <name>]",
    summary: "invites a user: prints a link that works once",
    positionals: { min: 1, max: 1 },
    options: {
      tenant: tenantOption,
      role: { type: "string", describe: `${roles.join(", ")}, or a role of the tenant` },
      name: { type: "string", describe: "the person's name (default: the part of the e-mail before the @)" },
    },
    wants,
    run: create,
  },
  {
    name: "user set-up",
    usage: "user set-up [--tenant <slug>]",
    summary: "prints a link that creates the first admin, while the tenant has no users",
    positionals: { min: 0, max: 0 },
    options: { tenant: tenantOption },
    wants,
    run: setUp,
  },
  {
    name: "link",
    usage: "link [--tenant <slug>]",
    summary: "the same as user set-up",
    positionals: { min: 0, max: 0 },
    options: { tenant: tenantOption },
    wants,
    run: setUp,
  },
  {
    name: "user list",
    usage: "user list [--tenant <slug>]",
    summary: "lists the tenant's users",
    positionals: { min: 0, max: 0 },
    options: { tenant: tenantOption },
    wants,
    run: list,
  },
  {
    name: "user disable",
    usage: "user disable <email> [--tenant <slug>]",
    summary: "disables a user and ends their sessions at once",
    positionals: { min: 1, max: 1 },
    options: { tenant: tenantOption },
    wants,
    run: disable,
  },
  {
    name: "user reset-second-factor",
    usage: "user reset-second-factor <email> [--tenant <slug>]",
    summary: "removes a user's second factor and recovery codes, and ends their sessions",
    positionals: { min: 1, max: 1 },
    options: { tenant: tenantOption },
    wants,
    run: resetFactor,
  },
];
