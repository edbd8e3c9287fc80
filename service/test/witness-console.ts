import { randomUUID } from "node:crypto";
import { saveClaim } from "../src/db/leases.ts";
import { insertDecided, makeTraces } from "./decided.ts";
import type { TestTenant } from "./harness.ts";
import { makeOthers } from "./people.ts";
import type { Sample } from "./witness.ts";

// Includes the rejections for paths below an id, which the common rejections leave out.
function below(folder: string, id: string, last: string): Sample[] {
  const path = `${folder}/${encodeURIComponent(id)}/${last}`;
  return [
    { path, status: 200 },
    { path: `${folder}/${randomUUID()}/${last}`, status: 404, type: "item-not-found" },
    { path: `${folder}/%00/${last}`, status: 400, type: "bad-request" },
  ];
}

// A case whose account has a session with events, a device and an address that another account was seen with.
async function makeScene(tenant: TestTenant): Promise<{ case_id: string; session_id: string; account: string }> {
  const [session_id, account] = [randomUUID(), "user-1"];
  const own = {
    session_id,
    device_id: "device-1",
    ip: "192.0.2.1",
    user_agent: "Agent/1.0",
    attributes: { note: "x", amount: 1.5 },
  };
  await tenant.report(account, own);
  const { case_id } = await tenant.openCase(account);
  await tenant.report("user-2", own);
  await tenant.openCase("user-2");
  const browser = { page_url: "https://shop.example/", page_title: "Shop", signs: ["wrong-hash"] };
  const logged_in = { type: "login_succeeded", website_account_id: account, ...own };
  await insertDecided(tenant, [{ ...own, origin: "browser", browser, decision: { l: 1.5, r: { a_rule: 1 } } }, logged_in]);
  await tenant.call("PUT", `/enduseraccounts/${account}`, { body: { is_blocked: true } });
  return { case_id, session_id, account };
}

async function viewPath(tenant: TestTenant): Promise<string> {
  const made = await tenant.call("POST", "/views", { body: { name: "A view", filter: { status: "OPEN" }, key: 9 } });
  return `/views/${(made.json.data as { view_id: string }).view_id}`;
}

const onClosed = (name: string) => async (tenant: TestTenant) => {
  const { case_id, case_version } = await tenant.openCase();
  await tenant.put(case_id, { status: "CLOSED", case_version, disposition: "CONFIRMED_FRAUD" });
  return [{ path: `/figures/${name}?limit=1`, status: 200 }];
};

const onCase = (last: string) => async (tenant: TestTenant) => below("/cases", (await makeScene(tenant)).case_id, last);
const onAccount = (last: string) => async (tenant: TestTenant) =>
  below("/enduseraccounts", (await makeScene(tenant)).account, last);

// The requests for timelines, links, histories, figures and the feed.
export const consoleTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  listEvents: async (tenant) => {
    await makeScene(tenant);
    return [{ path: "/events?after=1&limit=3", status: 200 }];
  },
  streamEvents: async (tenant) => {
    await makeScene(tenant);
    return [{ path: "/events/stream?after=0&wait=0&types=case.opened", status: 200 }];
  },
  listActivities: async (tenant) => {
    await makeScene(tenant);
    return [{ path: "/activities?limit=2", status: 200 }];
  },
  listPersonDays: onClosed("days"),
  listPersonFigures: onClosed("people"),
  listPrecision: onClosed("precision"),
  listMoney: onClosed("money"),
  listViews: async (tenant) => {
    await viewPath(tenant);
    return [{ path: "/views", status: 200 }];
  },
  createView: async () => {
    const path = "/views";
    const body = { name: "Take-overs", filter: { label: "Account Takeover", min_score: 4 }, is_shared: true, key: 1 };
    return [
      { path, options: { body }, status: 201 },
      { path, options: { body }, status: 409, type: "item-already-exists" },
      { path, options: { body: { ...body, name: "Others" } }, status: 422, type: "validation-error" },
    ];
  },
  getViewCounts: async (tenant) => {
    await viewPath(tenant);
    return [{ path: "/views/counts", status: 200 }];
  },
  updateView: async (tenant) => {
    const path = await viewPath(tenant);
    await tenant.call("POST", "/views", { body: { name: "Taken" } });
    const body = { view_version: 1, filter: { claimed_by: "me" }, key: null, position: 0 };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body }, status: 409, type: "item-version-conflict" },
      { path, options: { body: { view_version: 2, name: "Taken" } }, status: 409, type: "item-already-exists" },
    ];
  },
  deleteView: async (tenant) => [{ path: await viewPath(tenant), status: 204 }],
  listCaseEvents: onCase("events"),
  listCaseMembers: onCase("members"),
  listSimilarCases: onCase("similar"),
  listCaseNotes: async (tenant) => {
    const { case_id } = await makeScene(tenant);
    await tenant.call("POST", `/cases/${case_id}/notes`, { body: { text: "A note" }, key: randomUUID() });
    return below("/cases", case_id, "notes");
  },
  addCaseNote: async (tenant) => {
    const key = randomUUID();
    const options = { body: { text: "A note" }, key };
    const [first, ...others] = below("/cases", (await makeScene(tenant)).case_id, "notes");
    if (!first) return [];
    return [
      { ...first, options, status: 201 },
      ...others.map((sample) => ({ ...sample, options: { ...options, key: randomUUID() } })),
      { ...first, options: { key, body: { text: "Another" } }, status: 409, type: "operation-idempotency-conflict" },
    ];
  },
  getDispositions: async () => [{ path: "/dispositions", status: 200 }],
  updateDispositions: async () => {
    const path = "/dispositions";
    const body = { own_dispositions: [{ name: "Card testing", disposition: "CONFIRMED_FRAUD" }], dispositions_version: 1 };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body }, status: 409, type: "item-version-conflict" },
      { path, options: { body: { ...body, own_dispositions: [{}] } }, status: 422, type: "validation-error" },
    ];
  },
  getReasonTemplates: async () => [{ path: "/reason-templates", status: 200 }],
  updateReasonTemplates: async () => {
    const path = "/reason-templates";
    const body = { templates: [{ name: "Known", text: "A known customer.", labels: ["Bot"] }], templates_version: 1 };
    return [
      { path, options: { body }, status: 200 },
      { path, options: { body }, status: 409, type: "item-version-conflict" },
      { path, options: { body: { ...body, templates: [{}] } }, status: 422, type: "validation-error" },
    ];
  },
  getCaseHandover: async (tenant) => {
    const { case_id } = await makeScene(tenant);
    const { case_version } = await tenant.read(case_id);
    const body = { case_version, handed_to: "lead", text: "Please decide." };
    await tenant.call("POST", `/cases/${case_id}/handover`, { body, key: randomUUID() });
    return below("/cases", case_id, "handover");
  },
  handOverCase: async (tenant) => {
    const key = randomUUID();
    const { case_id } = await makeScene(tenant);
    const { case_version } = await tenant.read(case_id);
    const body = { case_version, handed_to: "lead", text: "Please decide." };
    const [first, ...others] = below("/cases", case_id, "handover");
    if (!first) return [];
    return [
      { ...first, options: { body, key }, status: 201 },
      ...others.map((sample) => ({ ...sample, options: { body, key: randomUUID() } })),
      { ...first, options: { body: { ...body, text: "x" }, key }, status: 409, type: "operation-idempotency-conflict" },
      { ...first, options: { body, key: randomUUID() }, status: 409, type: "item-version-conflict" },
    ];
  },
  listInbox: async (tenant) => {
    await makeOthers(tenant);
    return [{ path: "/inbox?unread=true&limit=2", status: 200 }];
  },
  getUnreadCount: async () => [{ path: "/inbox/unread", status: 200 }],
  markRead: async () => [{ path: "/inbox/read", options: { body: { notice_ids: [randomUUID()] } }, status: 200 }],
  getNotifications: async () => [{ path: "/notifications", status: 200 }],
  updateNotifications: async () => {
    const settings = { views: [], mentions: true, handovers: true, overdue: "mine", pace: "hourly", hour: 9 };
    const bodyOf = (version: number) => ({ body: { notifications_version: version, ...settings } });
    return [
      { path: "/notifications", options: bodyOf(1), status: 200 },
      { path: "/notifications", options: bodyOf(2), status: 409, type: "item-version-conflict" },
    ];
  },
  testNotifications: async () => [{ path: "/notifications/test", status: 200 }],
  listNotificationMails: async () => [{ path: "/notifications/mails?state=DEAD", status: 200 }],
  getDueTimes: async () => [{ path: "/due-times", status: 200 }],
  updateDueTimes: async () => {
    const targets = [{ min_score: 4, label: "Bot", hours: 4 }];
    const body = { due_times_version: 1, days: [1, 2], start: "09:00", end: "17:30", days_off: ["2026-12-25"], targets };
    return [
      { path: "/due-times", options: { body }, status: 200 },
      { path: "/due-times", options: { body }, status: 409, type: "item-version-conflict" },
    ];
  },
  listColleagues: async (tenant) => {
    await makeOthers(tenant);
    return [{ path: "/colleagues", status: 200 }];
  },
  getCaseClaim: async (tenant) => {
    const { case_id } = await makeScene(tenant);
    await tenant.call("PUT", `/cases/${case_id}/claim`);
    return below("/cases", case_id, "claim");
  },
  claimCase: async (tenant) => {
    const { case_id } = await makeScene(tenant);
    const [free] = await tenant.list("website_account_id=user-2");
    const claim = { claimed_by: "somebody-else", claimed_at: "2026-11-15T09:30:00.000Z", expires_at: "2100-01-01T00:00:00.000Z" };
    await saveClaim(tenant.service.database, tenant.tenantId, { case_id, claim, isTakeover: false });
    const options = { body: { take_over: false } };
    return [
      ...below("/cases", free?.case_id ?? "", "claim").map((sample) => ({ ...sample, options })),
      { path: `/cases/${case_id}/claim`, options, status: 409, type: "item-already-exists" },
    ];
  },
  releaseCase: async (tenant) => {
    const [own, ...others] = below("/cases", (await makeScene(tenant)).case_id, "claim");
    return own ? [{ ...own, status: 204 }, ...others] : [];
  },
  createCaseFile: onCase("file"),
  search: async (tenant) => {
    const { case_id } = await makeScene(tenant);
    return ["user", "device-1", "192.0.2.0/24", case_id].map((text) => ({
      path: `/search?q=${encodeURIComponent(text)}`,
      status: 200,
    }));
  },
  listCaseSessions: onCase("sessions"),
  listCaseActivities: onCase("activities"),
  listEndUserAccountEvents: onAccount("events"),
  listEndUserAccountSessions: onAccount("sessions"),
  listEndUserAccountActivities: onAccount("activities"),
  listEndUserAccountLinks: onAccount("links"),
  getSession: async (tenant) => [{ path: `/sessions/${(await makeScene(tenant)).session_id}`, status: 200 }],
  listSessionActivities: async (tenant) => below("/sessions", (await makeScene(tenant)).session_id, "activities"),
  listDeviceAccounts: async (tenant) => below("/devices", (await makeTraces(tenant)).device_id, "accounts"),
  listAddressAccounts: async (tenant) => below("/addresses", (await makeTraces(tenant)).ip, "accounts"),
  getLinks: async (tenant) => {
    await makeScene(tenant);
    return [
      { path: "/links", status: 200 },
      { path: "/links?website_account_id=user-1", status: 200 },
    ];
  },
  listCaseDigests: async (tenant) => [{ path: `/cases/digests?case_ids=${(await makeScene(tenant)).case_id}`, status: 200 }],
  getCaseCounts: async (tenant) => {
    await makeScene(tenant);
    return [{ path: "/cases/counts", status: 200 }];
  },
  getOverview: async (tenant) => {
    await makeScene(tenant);
    return [{ path: "/overview?start_date=2026-11-01&end_date=2026-12-01", status: 200 }];
  },
};
