import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../src/api/operations.ts";
import { lockCasesById } from "../src/db/cases.ts";
import type { FailureCode } from "../src/domain/failure.ts";
import { TestTenant, send, useService } from "./harness.ts";
import { collectorTraffic } from "./witness-collector.ts";
import { approvalTraffic } from "./witness-approvals.ts";
import { consoleTraffic } from "./witness-console.ts";
import { detectionTraffic } from "./witness-detection.ts";
import { peopleTraffic } from "./witness-people.ts";
import { scimTraffic } from "./witness-scim.ts";
import { webhookTraffic } from "./witness-webhooks.ts";
import {
  alsoUnprovokable,
  readOperations,
  refusals,
  startTampering,
  useDocument,
  usePrism,
  type Answer,
  type Exchange,
  type Sample,
} from "./witness.ts";

const service = useService();
const document = useDocument(service);

const form = { "content-type": "application/x-www-form-urlencoded" };
const page =
  (path: string): (() => Promise<Sample[]>) =>
  async () => [{ path, status: 200 }];

function fraudReport() {
  return { activity_id: randomUUID(), type: "fraud_report", occurred_at: new Date().toISOString(), website_account_id: "user-1" };
}

async function createAccount(tenant: TestTenant, id: string): Promise<string> {
  const body = { website_account_id: id, crm_account_id: "CRM-1", is_quarantined: true };
  const made = await tenant.call("POST", "/enduseraccounts", { body });
  expect(made.status, made.text).toBe(201);
  return `/enduseraccounts/${id}`;
}

async function caseUpdates(tenant: TestTenant): Promise<Sample[]> {
  const earlier = await tenant.openCase("user-1");
  await tenant.put(earlier.case_id, { status: "CLOSED", case_version: 1 });
  const open = await tenant.openCase("user-1");
  const path = `/cases/${open.case_id}`;
  const close = {
    body: { status: "CLOSED", case_version: 1, disposition: "CONFIRMED_FRAUD", reason: "By phone." },
    key: randomUUID(),
  };
  const reopen = { body: { status: "OPEN", case_version: 2 }, key: randomUUID() };
  const holdLock = (ask: () => Promise<Answer>) =>
    service.current.database.transaction(async (tx) => {
      await lockCasesById(tx, tenant.tenantId, [open.case_id]);
      return ask();
    });
  return [
    { path: `/cases/${earlier.case_id}`, options: reopen, status: 409, type: "item-already-exists" },
    { path, options: close, status: 409, type: "transaction-contended", around: holdLock },
    { path, options: close, status: 200 },
    { path, options: close, status: 200 },
    { path, options: { ...close, body: reopen.body }, status: 409, type: "operation-idempotency-conflict" },
    { path, options: { ...close, key: randomUUID() }, status: 409, type: "item-version-conflict" },
  ];
}

async function bulkCloses(tenant: TestTenant): Promise<Sample[]> {
  const cases = [await tenant.openCase(), await tenant.openCase()].map(({ case_id }, index) => ({
    case_id,
    case_version: 1 + index,
  }));
  const path = "/cases/close";
  const options = {
    body: { cases: [...cases, { case_id: randomUUID(), case_version: 1 }], reason: "A test." },
    key: randomUUID(),
  };
  return [
    { path, options, status: 200 },
    { path, options, status: 200 },
    { path, options: { ...options, body: { cases } }, status: 409, type: "operation-idempotency-conflict" },
  ];
}

function tokenRequests(tenant: TestTenant): Sample[] {
  const path = "/v2/oauth/token";
  const credentials = { grant_type: "client_credentials", client_id: tenant.clientId, client_secret: tenant.clientSecret };
  const asking = (more: Record<string, string>) => ({
    rawBody: new URLSearchParams({ ...credentials, ...more }).toString(),
    headers: form,
  });
  return [
    { path, options: asking({}), status: 200 },
    { path, options: asking({ scope: "read:case read:cases" }), status: 200 },
    { path, options: asking({ scope: "openid" }), status: 400, type: "bad-request" },
    { path, options: asking({ client_secret: "wrong" }), status: 401, type: "unauthorized" },
    { path, options: asking({ padding: "x".repeat(16 * 1024) }), status: 413, type: "payload-too-large" },
    { path, options: { body: credentials }, status: 415, type: "unsupported-media-type" },
  ];
}

// An operation that is missing here fails the first test. `refusals` adds the rejections that all operations have in common.
const traffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  listCases: async (tenant) => {
    await tenant.openCase("user-1");
    await tenant.openCase("user-2");
    return [
      { path: "/cases?status=OPEN&user_is_blocked=false&min_score=1&label=Organic&sort=-updated_at", status: 200 },
      { path: "/cases?limit=1", status: 200 },
    ];
  },
  getCase: async (tenant) => [{ path: `/cases/${(await tenant.openCase()).case_id}`, status: 200 }],
  updateCase: caseUpdates,
  closeCases: bulkCloses,
  listEndUserAccounts: async (tenant) => {
    await createAccount(tenant, "user-1");
    await createAccount(tenant, "user-2");
    return [{ path: "/enduseraccounts?is_blocked=false&crm_account_id=CRM-1&limit=1", status: 200 }];
  },
  createEndUserAccount: async () => {
    const made = { path: "/enduseraccounts", options: { body: { website_account_id: "user-1", crm_account_id: null } } };
    return [
      { ...made, status: 201 },
      { ...made, status: 409, type: "item-already-exists" },
    ];
  },
  getEndUserAccount: async (tenant) => [{ path: await createAccount(tenant, "user-1"), status: 200 }],
  updateEndUserAccount: async (tenant) => {
    const path = await createAccount(tenant, "user-1");
    return [
      { path, options: { body: { is_blocked: true, crm_account_id: null } }, status: 200 },
      { path, options: { body: { is_blocked: "true" } }, status: 422, type: "validation-error" },
    ];
  },
  deleteEndUserAccount: async (tenant) => [{ path: await createAccount(tenant, "user-1"), status: 204 }],
  createActivities: async () => {
    const options = { body: { activities: [{ ...fraudReport(), ip: "192.0.2.1", attributes: { amount: 12.5, is_new: true } }] } };
    return [
      { path: "/activities", options, status: 202 },
      { path: "/activities", options, status: 202 },
    ];
  },
  ...collectorTraffic,
  ...detectionTraffic,
  ...peopleTraffic,
  ...scimTraffic,
  ...webhookTraffic,
  ...consoleTraffic,
  ...approvalTraffic,
  getTenant: page("/tenants"),
  getTenantMetrics: async () => [
    { path: "/metrics?start_date=2026-11-01&end_date=2026-11-15T12:00:00Z&aggregation=day", status: 200 },
    { path: "/metrics?metric=unique_ids", status: 200 },
    { path: "/metrics?start_date=2026-11-02&end_date=2026-11-01", status: 400, type: "bad-request" },
  ],
  getToken: async (tenant) => tokenRequests(tenant),
  getKeys: page("/.well-known/jwks.json"),
  getOpenapi: page("/openapi.json"),
  getDocs: page("/docs"),
  getDocsPage: async () => [
    { path: "/docs/tutorial", status: 200 },
    { path: "/docs/api", status: 200 },
    { path: "/docs/nothing", status: 404, type: "item-not-found" },
  ],
  getLiveness: page("/livez"),
  getReadiness: page("/readyz"),
};

// What no well-formed request can cause: faults of the service, the network or HTTP framing, and held locks, which the case
// update covers for all.
const unprovokable = new Set<FailureCode>([
  "rate-limited",
  "internal-error",
  "bad-gateway",
  "service-unavailable",
  "headers-too-large",
  "transaction-contended",
]);
type Violation = { location: string[]; message: string };
type Seen = { sample: Sample; answer: Answer; request: Violation[]; response: Violation[] };

// Sends all requests of an operation through Prism. Rejections come first, because they change nothing.
async function sendTraffic(id: string, prismPort: number): Promise<Seen[]> {
  const tenant = await TestTenant.create(service.current);
  const operation = operations.find((each) => each.id === id);
  const method = readOperations(document.current.file).get(id)?.method ?? "";
  const own = (await traffic[id]?.(tenant)) ?? [];
  const valid = own.find((sample) => sample.type === undefined);
  const samples = operation && valid ? [...(await refusals(operation, valid, tenant)), ...own] : own;
  const seen: Seen[] = [];
  for (const sample of samples) {
    const path = operation ? `/v2/${sample.slug ?? tenant.slug}${sample.path}` : sample.path;
    const options = { ...(operation && { token: tenant.token }), ...sample.options };
    const ask = () => (pages.has(id) ? askPage(prismPort, path) : send(prismPort, method, path, options));
    const answer = await (sample.around ? sample.around(ask) : ask());
    // Prism reports on which side each violation is. A header that it had to truncate does not parse and fails the test.
    const violations = JSON.parse(answer.headers.get("sl-violations") ?? "[]") as Violation[];
    const on = (side: string) => violations.filter(({ location }) => location[0] === side);
    seen.push({ sample, answer, request: on("request"), response: on("response") });
  }
  return seen;
}

// The responses that are not JSON.
const pages = new Set(["getDocs", "getDocsPage", "getTag"]);

async function askPage(port: number, path: string): Promise<Answer> {
  // Not compressed, because the proxy reads text.
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { "accept-encoding": "identity" } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("witness: the traffic has an entry for every operation of the table and of the document", () => {
  const ids = [...readOperations(document.current.file).keys()];
  expect(Object.keys(traffic).toSorted()).toEqual(ids.toSorted());
  expect(ids).toEqual(expect.arrayContaining(operations.map((operation) => operation.id)));
});

describe("through Prism", () => {
  const prism = usePrism(document, () => service.current.port);

  test.each(Object.keys(traffic))(
    "%s: successes and rejections match the document, and every documented response occurs",
    async (id) => {
      const seen = await sendTraffic(id, prism.current.port);
      for (const { sample, answer, request, response } of seen) {
        const isSuccess = sample.type === undefined;
        const { type } = isSuccess ? {} : (JSON.parse(answer.text) as { type?: string });
        // The document must allow what the service accepts. Prism may report a request that is wrong on purpose.
        // The document describes clients, which have no cookie.
        const isPerson = sample.options?.token === null;
        const ofRequest = request.filter(({ message }) => !isPerson || message !== "Invalid security scheme used");
        const violations = isSuccess ? [...ofRequest, ...response] : response;
        expect({ status: answer.status, type, violations }, `${sample.path} ${answer.text}`).toEqual({
          status: sample.status,
          type: sample.type,
          violations: [],
        });
        expect(request.map((each) => each.message)).not.toContain("Selected route not found");
      }
      const answers = new Set(seen.map(({ sample }) => [sample.status, sample.type].join(" ").trim()));
      const unseen = (readOperations(document.current.file).get(id)?.answers ?? []).filter((each) => !answers.has(each));
      const excused = new Set<string>([...unprovokable, ...(alsoUnprovokable[id] ?? [])]);
      expect(unseen.filter((each) => !excused.has(each.split(" ")[1] ?? ""))).toEqual([]);
    },
  );
});

// Puts one error into every response: a number as text, an extra member, a problem type, a body, a status or a media type.
function plant({ status, headers, body }: Exchange): Partial<Exchange> {
  if (status === 204) return { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
  if (/event-stream/.test(String(headers["content-type"])))
    return { headers: { ...headers, "content-type": "application/json" }, body: "{}" };
  if (/html|javascript/.test(String(headers["content-type"]))) return { headers: { ...headers, "content-type": "text/plain" } };
  const told = JSON.parse(body) as { data?: { case_version?: number } };
  if (status >= 400) return { body: JSON.stringify({ ...told, type: "planted" }) };
  if (!told.data) return { body: "[]" };
  const { case_version: version } = told.data;
  const planted = version === undefined ? { planted: true } : { case_version: String(version) };
  return { body: JSON.stringify({ data: { ...told.data, ...planted } }) };
}

describe("planted bug", () => {
  let tampering: Awaited<ReturnType<typeof startTampering>>;
  beforeAll(async () => {
    tampering = await startTampering(service.current.port, plant);
  });
  const prism = usePrism(document, () => tampering.port);
  afterAll(() => tampering.stop());

  test.each(Object.keys(traffic))("%s: Prism detects the error in each response", async (id) => {
    for (const { sample, response } of await sendTraffic(id, prism.current.port)) {
      expect(response.length, `${sample.path} ${sample.status} ${sample.type}`).toBeGreaterThan(0);
    }
  });
});
