// A plain implementation of the service's busiest calls, as a competent engineer would first write it: Fastify, a pool, one
// prepared query per request, the token verified each time. It uses the service's own tables and returns the same responses.
import { fastify, type FastifyRequest } from "fastify";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { Pool } from "pg";
import type { AccountChange } from "../../service/src/domain/account.ts";
import type { CaseChange } from "../../service/src/domain/case.ts";
import { Failure, notFound, type FailureCode } from "../../service/src/domain/failure.ts";
import { caseText, closeCase, ofAccount, saveAccount, toAccount, transaction, type Caller } from "./changes.ts";

const { DATABASE_URL: connectionString = "", ISSUER: issuer = "" } = process.env;
const pool = new Pool({ connectionString, max: 10 });
const keys = createRemoteJWKSet(new URL("/.well-known/jwks.json", issuer));

type Params = { slug: string; id: string };
type Asked = FastifyRequest<{ Params: Params }>;

async function identify({ headers, params }: Asked, scope: string): Promise<Caller> {
  const token = (headers.authorization ?? "").replace(/^bearer /i, "");
  const checks = { issuer, audience: "casehound", algorithms: ["ES256"], typ: "at+jwt" };
  const { payload } = await jwtVerify(token, keys, checks).catch((cause: unknown) => {
    throw new Failure("unauthorized", "The token is not valid.", { cause });
  });
  const { tenant_id: tenantId, tenant_slug: slug, scope: scopes, sub: actor } = payload;
  if (slug !== params.slug || typeof tenantId !== "string" || typeof scopes !== "string" || actor === undefined)
    throw new Failure("unauthorized", "The token is not valid here.");
  if (!scopes.split(" ").includes(scope)) throw new Failure("access-denied", "The token does not allow this.");
  return { tenantId, slug, actor };
}

const statuses: Partial<Record<FailureCode, number>> = {
  unauthorized: 401,
  "access-denied": 403,
  "item-not-found": 404,
  "item-version-conflict": 409,
  "operation-idempotency-conflict": 409,
};

const app = fastify({ logger: false });
app.setErrorHandler((error, _request, reply) => {
  const status = error instanceof Failure ? (statuses[error.code] ?? 400) : 500;
  return reply.code(status).send({ error: error instanceof Error ? error.message : String(error) });
});

const json = "application/json";

app.get<{ Params: Params }>("/v2/:slug/cases/:id", async (request, reply) => {
  const { tenantId } = await identify(request, "read:case");
  const { rows } = await pool.query<{ document: string; end_user_is_blocked: boolean }>({
    name: "case",
    text: "select document, end_user_is_blocked from cases where tenant_id = $1 and case_id = $2",
    values: [tenantId, request.params.id],
  });
  if (!rows[0]) throw notFound("Case", request.params.id);
  return reply.type(json).send(caseText(rows[0]));
});

const listed =
  "end_user_is_blocked, case_id, website_account_id, status, case_version, created_at, updated_at, overall_risk_score, primary_fraud_label, recommended_action";

type Listed = { Params: Params; Querystring: { limit: number; cursor?: string } };
const querystring = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
    cursor: { type: "string", format: "uuid" },
  },
};

app.get<Listed>("/v2/:slug/cases", { schema: { querystring } }, async (request) => {
  const { tenantId } = await identify(request, "read:cases");
  const { limit, cursor = "ffffffff-ffff-ffff-ffff-ffffffffffff" } = request.query;
  const { rows } = await pool.query<{ case_id: string }>({
    name: "cases",
    text: `select ${listed} from cases where tenant_id = $1 and case_id < $2 order by case_id desc limit $3`,
    values: [tenantId, cursor, limit + 1],
  });
  const cases = rows.slice(0, limit);
  return { data: { cases, next_cursor: rows.length > limit ? cases.at(-1)?.case_id : null } };
});

const caseChange = {
  type: "object",
  required: ["status", "case_version"],
  additionalProperties: false,
  properties: {
    status: { enum: ["OPEN", "CLOSED"] },
    case_version: { type: "integer" },
    reason: { type: "string", minLength: 1, maxLength: 1000 },
    disposition: { enum: ["CONFIRMED_FRAUD", "FALSE_POSITIVE", "INCONCLUSIVE"] },
  },
};

type Put = { Params: Params; Body: CaseChange };

app.put<Put>("/v2/:slug/cases/:id", { schema: { body: caseChange } }, async (request, reply) => {
  const caller = await identify(request, "update:case");
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string") throw new Failure("invalid-operation-id", "The header Idempotency-Key is required.");
  const { id } = request.params;
  const body = await transaction(pool, (client) => closeCase(client, { caller, id, key, change: request.body }));
  return reply.type(json).send(body);
});

app.get<{ Params: Params }>("/v2/:slug/enduseraccounts/:id", async (request) => {
  const { tenantId } = await identify(request, "read:enduseraccount");
  const { rows } = await pool.query({ name: "account", text: ofAccount, values: [tenantId, request.params.id] });
  if (!rows[0]) throw notFound("End-user account", request.params.id);
  return { data: toAccount(rows[0]) };
});

const flag = { type: "boolean" };
const accountChange = {
  type: "object",
  additionalProperties: false,
  properties: { is_blocked: flag, is_quarantined: flag, is_fraudulent: flag, crm_account_id: { type: ["string", "null"] } },
};

type AccountPut = { Params: Params; Body: AccountChange };

app.put<AccountPut>("/v2/:slug/enduseraccounts/:id", { schema: { body: accountChange } }, async (request) => {
  const caller = await identify(request, "update:enduseraccount");
  const { id } = request.params;
  return { data: await transaction(pool, (client) => saveAccount(client, { caller, id, change: request.body })) };
});

const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${url}\n`);
