import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readLogins } from "../../bench/rba-file.ts";
import { LoginBench } from "../../bench/rba-logins.ts";

const head =
  "index,Login Timestamp,User ID,Round-Trip Time [ms],IP Address,Country,Region,City,ASN,User Agent String," +
  "Browser Name and Version,OS Name and Version,Device Type,Login Successful,Is Attack IP,Is Account Takeover";
const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.0.0 Safari/537.36";
const linux =
  'Mozilla/5.0 (X11; Linux x86_64; a ""quoted"" word) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0.0.0 Safari/537.36';

type Row = { hour: number; user: number; ip?: string; country?: string; asn?: number; agent?: string; flags?: string };

function line(row: Row, index: number): string {
  const { hour, user, ip = `10.0.${user}.1`, country = "NO", asn = 29695, agent = windows, flags = "True,False,False" } = row;
  const at = new Date(Date.UTC(2020, 1, 3) + hour * 3_600_000).toISOString().replace("T", " ").replace("Z", "");
  return `${index},${at},${user},,${ip},${country},-,-,${asn},"${agent}",Chrome 80,Windows 10,desktop,${flags}`;
}

function fileOf(rows: Row[], first = head): string {
  const folder = mkdtempSync(join(tmpdir(), "casehound-rba-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rba-dataset.csv");
  writeFileSync(path, `${[first, ...rows.map(line)].join("\n")}\n`);
  return path;
}

async function benchOf(path: string): Promise<string> {
  const bench = new LoginBench();
  for await (const row of readLogins(path)) bench.add(row);
  return bench.text("rba-dataset.csv");
}

// The cells of a table row: number, case, at 1 %, at 5 %, and the last two by the ratio alone.
function cellsOf(text: string, name: string): string[] {
  const row = text.split("\n").find((each) => each.split("|")[1]?.trim() === name);
  return (
    row
      ?.split("|")
      .map((cell) => cell.trim())
      .slice(2, -1) ?? []
  );
}

const usual = Array.from({ length: 400 }, (_, index): Row => ({ hour: index, user: index % 20 }));
const stranger = { ip: "203.0.113.9", country: "RO", asn: 9050, agent: linux };

test("rba: a takeover from another country with another system stands out from the account's own log-ins", async () => {
  const text = await benchOf(fileOf([...usual, { ...stranger, hour: 500, user: 3, flags: "True,False,True" }]));
  expect(text).toContain("401 rows of rba-dataset.csv. 400 of them are genuine log-ins");
  expect(cellsOf(text, "account takeover")).toEqual(["1", "100 %", "100 %", "100 %", "100 %", "100 %"]);
  expect(cellsOf(text, "account takeover, with 12 to 39 log-ins before")[0]).toBe("1");
  expect(text).toContain("Genuine log-ins in a case: 0, which is 0.0 per 10,000.");
});

test("rba: a takeover that looks exactly like the owner is not caught", async () => {
  const text = await benchOf(fileOf([...usual, { hour: 500, user: 3, flags: "True,False,True" }]));
  expect(cellsOf(text, "account takeover")).toEqual(["1", "0 %", "0 %", "0 %", "0 %", "0 %"]);
});

test("rba: failures from one address on many accounts open a case from the eighth account on", async () => {
  const tries = Array.from({ length: 16 }, (_, user): Row => ({
    ...stranger,
    hour: 500 + user / 120,
    user,
    flags: "False,True,False",
  }));
  const text = await benchOf(fileOf([...usual, ...tries]));
  expect(cellsOf(text, "attack address, failure").slice(0, 2)).toEqual(["16", "56 %"]);
  expect(cellsOf(text, "attack address, log-in")[0]).toBe("0");
});

test("rba: a file without a required column, and a row that is not a log-in, are reported", async () => {
  await expect(benchOf(fileOf(usual, head.replace("ASN", "Network")))).rejects.toThrow('the file has no column "ASN"');
  const broken = fileOf([]);
  writeFileSync(broken, `${head}\nx,,,\n`);
  await expect(benchOf(broken)).rejects.toThrow("line 2 is not a log-in");
});
