import { expect, onTestFinished, test } from "vitest";
import { useService } from "./harness.ts";
import { runRedocly, startTampering } from "./witness.ts";

const service = useService();

type Operation = { responses?: Record<string, { content?: Record<string, unknown> }>; security?: unknown };
type Document = { paths: Record<string, Record<string, Operation>> };
type Report = { totals: Record<"errors" | "warnings" | "ignored", number>; problems: { ruleId: string; message: string }[] };

async function lint(port: number): Promise<{ code: number | null; report: Report }> {
  const address = `http://127.0.0.1:${port}/openapi.json`;
  // A mistake in redocly.yaml would silently disable rules.
  const { code, stdout, stderr } = await runRedocly(["lint", address, "--format", "json", "--lint-config", "error"]);
  expect(stdout, stderr).toContain('"totals"');
  return { code, report: JSON.parse(stdout) as Report };
}

test("GET openapi 200: Redocly's strict rules find no errors or warnings in the document", async () => {
  const { code, report } = await lint(service.current.port);
  expect(report.problems).toEqual([]);
  expect(report.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  expect(code).toBe(0);
});

const bugs: { bug: string; rule: string; plant: (operation: Operation) => void }[] = [
  { bug: "an operation without responses", rule: "operation-2xx-response", plant: (operation) => (operation.responses = {}) },
  {
    bug: "a reference to nowhere",
    rule: "no-unresolved-refs",
    plant: ({ responses }) => {
      const nowhere = { schema: { $ref: "#/components/schemas/Nowhere" } };
      Object.assign(responses?.["200"] ?? {}, { content: { "application/json": nowhere } });
    },
  },
  {
    bug: "a rejection that is not a problem object",
    rule: "rule/rejection",
    plant: ({ responses }) => {
      Object.assign(responses?.["404"] ?? {}, { content: { "application/json": { schema: { type: "object" } } } });
    },
  },
  {
    bug: "an undefined scope",
    rule: "security-scopes-defined",
    plant: (operation) => (operation.security = [{ oauth2: ["read:everything"] }]),
  },
];

test.each(bugs)("planted bug: Redocly's lint detects $bug", async ({ rule, plant }) => {
  const tampering = await startTampering(service.current.port, ({ body }) => {
    const document = JSON.parse(body) as Document;
    plant(document.paths["/v2/{tenant_slug}/cases/{case_id}"]?.["get"] ?? {});
    return { body: JSON.stringify(document) };
  });
  onTestFinished(tampering.stop);
  const { code, report } = await lint(tampering.port);
  expect(report.problems.map((each) => each.ruleId)).toContain(rule);
  expect(report.totals.errors).toBeGreaterThan(0);
  expect(code).toBe(1);
});
