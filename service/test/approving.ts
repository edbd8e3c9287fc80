import { randomUUID } from "node:crypto";
import type { Approval } from "@casehound/client";
import { expect } from "vitest";
import type { ApprovalSettings, StoredApprovalSettings } from "../src/domain/approval-settings.ts";
import type { Case } from "../src/domain/case.ts";
import type { Service } from "../src/service.ts";
import { TestTenant, type Answer } from "./harness.ts";
import { Browser } from "./people.ts";

export type Caller = TestTenant | Browser;

export const nameOf = ({ signedIn: { user } }: Browser) => `${user.name} <${user.email}>`;

export async function setApprovals(tenant: TestTenant, settings: Partial<StoredApprovalSettings>): Promise<ApprovalSettings> {
  const found = (await tenant.call("GET", "/approval-settings")).json.data as ApprovalSettings;
  const off = { blocking: false, amounts: [], includes_clients: false };
  const body = { ...off, ...settings, approval_settings_version: found.approval_settings_version };
  const answer = await tenant.call("PUT", "/approval-settings", { body });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

// Ada requests, and Ben is the second person.
export async function pair(service: Service, settings: Partial<StoredApprovalSettings> = {}) {
  const tenant = await TestTenant.create(service);
  const ada = await Browser.join(tenant, "investigator", { name: "Ada" });
  const ben = await Browser.join(tenant, "investigator", { name: "Ben" });
  await setApprovals(tenant, settings);
  return { tenant, ada, ben };
}

export function close(by: Caller, { case_id, case_version }: Case, more: object = {}): Promise<Answer> {
  return by.call("PUT", `/cases/${case_id}`, { body: { status: "CLOSED", case_version, ...more }, key: randomUUID() });
}

export function closeAll(by: Caller, cases: Case[], more: object = {}): Promise<Answer> {
  return by.call("POST", "/cases/close", { body: { cases: seen(cases), ...more }, key: randomUUID() });
}

export const seen = (cases: Case[]) => cases.map(({ case_id, case_version }) => ({ case_id, case_version }));

export function request(by: Caller, body: object, key: string = randomUUID()): Promise<Answer> {
  return by.call("POST", "/approvals", { body, key });
}

export async function requested(by: Caller, body: object): Promise<Approval> {
  const answer = await request(by, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

export function decide(by: Caller, { approval_id }: { approval_id: string }, status: string, note?: string): Promise<Answer> {
  return by.call("PUT", `/approvals/${approval_id}`, { body: { status, ...(note !== undefined && { note }) } });
}

export async function readApproval(by: Caller, { approval_id }: { approval_id: string }): Promise<Approval> {
  const answer = await by.call("GET", `/approvals/${approval_id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

export async function listed(by: Caller, query = ""): Promise<string[]> {
  const answer = await by.call("GET", `/approvals?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { approvals: { approval_id: string }[] }).approvals.map(({ approval_id }) => approval_id);
}

export async function openCases(tenant: TestTenant, count: number): Promise<Case[]> {
  return Promise.all(Array.from({ length: count }, () => tenant.openCase()));
}
