import { randomUUID } from "node:crypto";
import type { TestTenant } from "./harness.ts";
import { Browser } from "./people.ts";
import { storeApproval } from "./stored-approval.ts";
import type { Sample } from "./witness.ts";

async function storedPath(tenant: TestTenant): Promise<string> {
  return `/approvals/${await storeApproval(tenant.service.database, tenant.tenantId, "Please check.")}`;
}

async function bodyOf(tenant: TestTenant) {
  const { case_id, case_version } = await tenant.openCase();
  return { cases: [{ case_id, case_version }], disposition: "CONFIRMED_FRAUD", account: { is_blocked: true } };
}

// Only people can request approval.
async function asPerson(tenant: TestTenant) {
  const { cookie, signedIn } = await Browser.join(tenant, "investigator");
  return { token: null, headers: { cookie, "x-csrf-token": signedIn.csrf_token } };
}

const absent = () => `/approvals/${randomUUID()}`;

// The requests for a second person.
export const approvalTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  getApprovalSettings: async () => [{ path: "/approval-settings", status: 200 }],
  updateApprovalSettings: async () => {
    const path = "/approval-settings";
    const amounts = [{ currency: "EUR", above: 500 }];
    const body = { bulk_over: 20, blocking: true, amounts, includes_clients: false, approval_settings_version: 1 };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body }, status: 409, type: "item-version-conflict" },
    ];
  },
  listApprovals: async (tenant) => {
    await storedPath(tenant);
    return [{ path: "/approvals?limit=1", status: 200 }];
  },
  getApproval: async (tenant) => [
    { path: await storedPath(tenant), status: 200 },
    { path: absent(), status: 404, type: "item-not-found" },
    { path: "/approvals/%00", status: 400, type: "bad-request" },
  ],
  decideApproval: async (tenant) => {
    const options = { body: { status: "REJECTED", note: "No." } };
    const stale = await storedPath(tenant);
    const { cookie, signedIn } = await Browser.join(tenant, "investigator");
    await tenant.service.database.query({
      name: "",
      text: "update approvals set requested_by_id = $2 where tenant_id = $1",
      values: [tenant.tenantId, signedIn.user.user_id],
    });
    const second = await Browser.join(tenant, "investigator");
    const approving = { token: null, headers: { cookie: second.cookie, "x-csrf-token": second.signedIn.csrf_token } };
    const { cases } = await bodyOf(tenant);
    const person = { token: null, headers: { cookie, "x-csrf-token": signedIn.csrf_token } };
    const made = await tenant.call("POST", "/approvals", { body: { cases }, key: randomUUID(), ...person });
    const path = `/approvals/${(made.json.data as { approval_id: string }).approval_id}`;
    await tenant.call("POST", `/cases/${cases[0]?.case_id ?? ""}/notes`, { body: { text: "New." }, key: randomUUID() });
    return [
      { path, options: { body: { status: "APPROVED" }, ...approving }, status: 409, type: "item-version-conflict" },
      { path: stale, options, status: 200 },
      { path: stale, options: { body: { status: "WITHDRAWN" } }, status: 403, type: "access-denied" },
      { path: absent(), options, status: 404, type: "item-not-found" },
      { path: "/approvals/%00", options, status: 400, type: "bad-request" },
    ];
  },
  checkApproval: async (tenant) => {
    const path = "/approvals/check";
    const body = await bodyOf(tenant);
    const stale = { cases: body.cases.map((each) => ({ ...each, case_version: 9 })) };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body: stale }, status: 409, type: "item-version-conflict" },
      { path, options: { body: { website_account_id: "nobody", account: {} } }, status: 404, type: "item-not-found" },
    ];
  },
  requestApproval: async (tenant) => {
    const path = "/approvals";
    const person = await asPerson(tenant);
    const body = await bodyOf(tenant);
    const key = randomUUID();
    const stale = { cases: body.cases.map((each) => ({ ...each, case_version: 9 })) };
    const nobody = { website_account_id: "nobody", account: {} };
    return [
      { path, options: { body, key: randomUUID() }, status: 403, type: "access-denied" },
      { path, options: { body, key, ...person }, status: 201 },
      { path, options: { body: { ...body, note: "x" }, key, ...person }, status: 409, type: "operation-idempotency-conflict" },
      { path, options: { body: stale, key: randomUUID(), ...person }, status: 409, type: "item-version-conflict" },
      { path, options: { body: nobody, key: randomUUID(), ...person }, status: 404, type: "item-not-found" },
    ];
  },
};
