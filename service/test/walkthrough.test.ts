import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";

const service = useService();

test("walkthrough: token, report, case, version conflict, close, replay", async () => {
  const tenant = await TestTenant.create(service.current);
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: tenant.clientId,
    client_secret: tenant.clientSecret,
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const granted = await send(service.current.port, "POST", "/v2/oauth/token", { rawBody: form.toString(), headers });
  const { access_token: token } = JSON.parse(granted.text) as { access_token: string };
  const opened = await tenant.openCase("user-42");
  expect(opened).toMatchObject({
    website_account_id: "user-42",
    status: "OPEN",
    case_version: 1,
    details: { overall_risk_score: 5 },
  });
  const stale = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 7 }, randomUUID(), { token });
  expect(expectProblem(stale, 409, "item-version-conflict").current_version).toBe(1);
  const key = randomUUID();
  const closed = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, key, { token });
  expect(closed.json.data).toMatchObject({ status: "CLOSED", case_version: 2, current_state: { changed_by: tenant.clientId } });
  const again = await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 }, key, { token });
  expect(again.text).toBe(closed.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});
