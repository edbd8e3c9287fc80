import { expect } from "vitest";
import type { Activity } from "../src/domain/activity.ts";
import type { Case } from "../src/domain/case.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import type { Snooze } from "../src/domain/snooze.ts";
import type { Service } from "../src/service.ts";
import { makeRule } from "./decided.ts";
import { TestTenant, type Answer } from "./harness.ts";
import { paymentOf, sendScored } from "./labels-lab.ts";

let places = 0;

// Every visit comes from a new device and a new block of addresses, so that earlier false positives damp nothing.
export function visitOf(more: Partial<Activity> = {}): Activity {
  places += 1;
  const place = { device_id: `device-${places}`, ip: `10.${places >> 8}.${places & 255}.1` };
  return paymentOf({ type: "custom:visit", website_account_id: "anna", ...place, ...more });
}

const isVisit = "event.type == 'custom:visit'";

// A tenant where every visit gets score 3, or more if it has certain attributes.
export async function strictTenant(service: Service): Promise<TestTenant> {
  const tenant = await TestTenant.create(service);
  await makeRule(tenant, "visits", { name: "Visit", expression: isVisit, label: "Organic", weight: 3 });
  const odd = `${isVisit} && has(event.attributes.odd)`;
  await makeRule(tenant, "odd_visits", { name: "Odd visit", expression: odd, label: "Bot", weight: 2.8 });
  const slightly = `${isVisit} && has(event.attributes.slight)`;
  await makeRule(tenant, "slight_visits", { name: "Slight", expression: slightly, label: "Bot", weight: 0.5 });
  return tenant;
}

export async function openCaseOf(tenant: TestTenant, activity: Activity): Promise<Case> {
  await sendScored(tenant, [activity]);
  const open = await tenant.list("status=OPEN");
  expect(open).toHaveLength(1);
  return tenant.read(open[0]?.case_id ?? "");
}

type Request = { days: number; scope: string };

export function close(tenant: TestTenant, { case_id, case_version }: Case, snooze: Request, more: object = {}): Promise<Answer> {
  const closing = { status: "CLOSED", disposition: "FALSE_POSITIVE", case_version, snooze, ...more };
  return tenant.put(case_id, closing);
}

export async function snoozed(tenant: TestTenant, scope: string, activity: Activity = visitOf()): Promise<Case> {
  const found = await openCaseOf(tenant, activity);
  const answer = await close(tenant, found, { days: 14, scope });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

export async function listed(tenant: TestTenant, query = ""): Promise<Snooze[]> {
  const answer = await tenant.call("GET", `/snoozes?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { snoozes: Snooze[] }).snoozes;
}

export async function openCases(tenant: TestTenant): Promise<CaseListItem[]> {
  return tenant.list("status=OPEN");
}
