import { randomUUID } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { root, runRedocly, startTampering, useDocument, type Exchange } from "./witness.ts";

const service = useService();
const document = useDocument(service);

type Check = { name: string; condition?: string; status: string };
type Step = { stepId: string; checks: Check[]; status: string };
type Log = { files: Record<string, { executedWorkflows: { executedSteps: Step[] }[] }> };

// Copied beside the document, where the flow looks for it.
function placeFlow(): string {
  const file = join(document.current.folder, "flow.arazzo.yaml");
  copyFileSync(join(root, "docs/flow.arazzo.yaml"), file);
  return file;
}

async function runFlow(port: number): Promise<{ code: number | null; steps: Step[]; output: string }> {
  const tenant = await TestTenant.create(service.current);
  const log = join(document.current.folder, `${randomUUID()}.json`);
  const input = {
    tenant_slug: tenant.slug,
    client_id: tenant.clientId,
    client_secret: tenant.clientSecret,
    account_id: randomUUID(),
    occurred_at: new Date().toISOString(),
  };
  const server = `casehound=http://127.0.0.1:${port}`;
  const { code, stdout, stderr } = await runRedocly(["respect", placeFlow(), "--server", server, "--json-output", log], {
    REDOCLY_CLI_RESPECT_INPUT: JSON.stringify(input),
  });
  const { files } = JSON.parse(readFileSync(log, "utf8")) as Log;
  const steps = Object.values(files).flatMap((file) => file.executedWorkflows.flatMap((each) => each.executedSteps));
  return { code, steps, output: stdout + stderr };
}

test("flow: the description is valid Arazzo", async () => {
  const { code, stdout, stderr } = await runRedocly(["lint", placeFlow(), "--format", "json"]);
  expect(JSON.parse(stdout), stderr).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 } });
  expect(code).toBe(0);
});

test("flow: Respect gets a token, reports fraud, finds, reads and closes the case, repeats the close, and is rejected with a stale version", async () => {
  const { code, steps, output } = await runFlow(service.current.port);
  expect(code, output).toBe(0);
  const passed = steps.filter((step) => step.status === "success").map((step) => step.stepId);
  expect(passed).toEqual([
    "get-token",
    "report-fraud",
    "find-case",
    "read-case",
    "close-case",
    "repeat-close",
    "close-with-stale-version",
    "read-again",
  ]);
});

type Body = { data: { case_version: number; current_state: unknown }; current_version?: number };

function change(body: string, plant: (parsed: Body) => unknown): { body: string } {
  return { body: JSON.stringify(plant(JSON.parse(body) as Body)) };
}

const isReplay = ({ headers }: Exchange) => headers["idempotent-replayed"] === "true";
const isConflict = ({ status, method }: Exchange) => status === 409 && method === "PUT";

const bugs: { bug: string; step: string; check: string; tamper: (exchange: Exchange) => Partial<Exchange> }[] = [
  {
    bug: "a repeat with another version",
    step: "repeat-close",
    check: "$response.body#/data/case_version == $steps.close-case.outputs.case_version",
    tamper: (exchange) =>
      isReplay(exchange) ? change(exchange.body, ({ data }) => ({ data: { ...data, case_version: data.case_version + 1 } })) : {},
  },
  {
    bug: "a repeat that is not marked",
    step: "repeat-close",
    check: "$response.header.Idempotent-Replayed == 'true'",
    tamper: ({ headers: { "idempotent-replayed": _mark, ...headers } }) => ({ headers }),
  },
  {
    bug: "a conflict without the current version",
    step: "close-with-stale-version",
    check: "$response.body#/current_version == $steps.close-case.outputs.case_version",
    tamper: (exchange) =>
      isConflict(exchange) ? change(exchange.body, ({ current_version: _version, ...problem }) => problem) : {},
  },
  {
    bug: "an undocumented member",
    step: "close-case",
    check: "schema check",
    tamper: ({ method, status, body }) =>
      method === "PUT" && status === 200 ? change(body, ({ data }) => ({ data: { ...data, planted: true } })) : {},
  },
];

test.each(bugs)("planted bug: Respect detects $bug", async ({ step, check, tamper }) => {
  const tampering = await startTampering(service.current.port, tamper);
  onTestFinished(tampering.stop);
  const { code, steps } = await runFlow(tampering.port);
  const last = steps.at(-1);
  expect(last?.stepId).toBe(step);
  expect(last?.checks.filter((each) => each.status !== "success").map((each) => each.condition ?? each.name)).toContain(check);
  expect(code).toBe(1);
});
