import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { launchBrowser } from "./browser.ts";
import { blocksOf, repository } from "./guide.ts";
import { freePort, readDemo } from "./launch.ts";
import { Caller, eventually, useProcesses } from "./process.ts";

const processes = useProcesses();

type Outcome = { code: number | null; outputs: string[]; err: string };

// Runs all blocks in one shell, as if pasted one after the other. Stops at the first command that fails.
function paste(blocks: string[], env: Record<string, string>): Promise<Outcome> {
  const mark = "== the next block ==";
  const script = ["set -eu", ...blocks.map((block) => `${block}\nprintf '\\n${mark}\\n'`)].join("\n");
  return new Promise((done, reject) => {
    const child = spawn("sh", ["-c", script], { cwd: repository, env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => done({ code, outputs: out.split(`\n${mark}\n`), err }));
  });
}

// Does what a visitor's browser does with the tutorial's page, at the origin that is allowed to send.
async function visit(html: string, port: number): Promise<void> {
  const server = createServer((_request, response) => void response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", () => done()));
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const sent = page.waitForResponse((response) => response.url().includes("/collect/") && response.status() === 200);
    await page.goto(`http://127.0.0.1:${port}/`);
    await sent;
  } finally {
    await browser.close();
    server.close();
  }
}

test("tutorial: its commands, unchanged and in order, open and close two cases; its page sends what it says", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  const blocks = blocksOf("tutorial", "sh");
  const { PATH = "", HOME = "" } = process.env;
  const url = `http://127.0.0.1:${service.port}`;
  const shopPort = await freePort();
  const shop = `http://127.0.0.1:${shopPort}`;
  const env = { PATH, HOME, DATA_DIR: dataDir, CASEHOUND_URL: url, PAGE_ORIGIN: shop };
  const { code, outputs, err } = await paste(blocks, env);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(outputs).toHaveLength(blocks.length + 1);
  const outputOf = (part: string) => outputs[blocks.findIndex((block) => block.includes(part))] ?? "";

  expect(outputOf("oauth/token")).toContain('"tenant_name":"demo"');
  expect(outputOf("allowed_origins")).toContain(`"allowed_origins":["https://shop.example","${shop}"]`);
  expect(outputOf("report-1-")).toContain('{"data":{"accepted":1,"duplicates":0}}');
  const [, opened = ""] = /"case_id":"([^"]+)"/.exec(outputOf("find_case()")) ?? [];
  expect(outputOf("find_case()")).toMatch(/"status":"OPEN","case_version":1/);
  expect(outputOf("@casehound/client").trim()).toBe("closed by this call: true; the case is CLOSED, version 2");
  expect(outputOf('"case_version":7')).toContain('"type":"item-version-conflict"');
  expect(outputOf('"case_version":7')).toContain('"current_version":1');
  const closes = outputOf("for _ in once twice");
  expect(closes.match(/^HTTP\/1\.1 200 OK/gm)).toHaveLength(2);
  expect(closes.match(/^idempotent-replayed: true/gim)).toHaveLength(1);
  const bodies = closes.match(/\{"data":.*\}\}/g) ?? [];
  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toBe(bodies[1]);
  const last = JSON.parse(outputs.at(-2) ?? "") as { data: { cases: CaseListItem[] } };
  expect(last.data.cases.map((each) => each.status)).toEqual(["CLOSED", "CLOSED"]);
  expect(last.data.cases.map((each) => each.case_id)).toContain(opened);

  const account = last.data.cases[0]?.website_account_id ?? "";
  await visit(readFileSync(join(dataDir, "tutorial.html"), "utf8"), shopPort);
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  await eventually(async () => {
    const { text } = await caller.call("GET", "/activities?limit=1000");
    expect(text).toContain(`"claimed_account_id":"${account}"`);
  });
});
