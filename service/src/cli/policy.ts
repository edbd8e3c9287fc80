import type { Policy, PolicyChange, PolicyDefinition, PolicyOutcome, PolicyRow, PolicyTrial } from "@casehound/client";
import { scoresOf } from "../domain/policy.ts";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import type { Call, Command, Outcome } from "./command.ts";
import { readJsonFile } from "./json-file.ts";
import { table } from "./table.ts";

type PolicyFile = { policy_version: number | undefined; definition: PolicyDefinition };

function readPolicy(file: string): PolicyFile {
  const { policy_version, updated_at: _at, updated_by: _by, ...definition } = readJsonFile(file, "rows") as Policy;
  return { policy_version, definition };
}

async function check({ positionals }: Omit<Call, "store">): Promise<void> {
  readPolicy(positionals[0] ?? "");
}

async function show({ client }: ApiCall): Promise<Outcome> {
  const result = await client.getPolicy();
  return { result, text: policyText(result) };
}

function policyText({ policy_version, mode, updated_at, updated_by, rows }: Policy): string {
  const lines = rows.map((row, index) => [
    index + 1,
    row.name,
    row.moments?.join(", ") ?? "all",
    scoreText(row),
    row.labels?.join(", ") ?? "any",
    row.lists?.join(", ") ?? "any",
    `${row.action}${row.set_quarantined === true ? ", quarantine" : ""}`,
  ]);
  const first = `version ${policy_version}, ${mode}, changed ${updated_at} by ${updated_by}`;
  return [first, "", table(["row", "name", "moments", "scores", "labels", "lists", "action"], lines)].join("\n");
}

function scoreText(row: PolicyRow): string {
  const { least, most } = scoresOf(row);
  return least === most ? String(least) : `${least} to ${most}`;
}

// With a version in the file, the policy is replaced only if it still has that version. Without one, it is replaced as it is now.
async function set({ client, positionals }: ApiCall): Promise<Outcome> {
  const { policy_version, definition } = readPolicy(positionals[0] ?? "");
  const current = policy_version ?? (await client.getPolicy()).policy_version;
  const result = await client.updatePolicy({ ...definition, policy_version: current } satisfies PolicyChange);
  const isSame = result.policy_version === current;
  return { result, text: `${isSame ? "unchanged" : "changed"}: ${policyText(result)}` };
}

async function attempt({ client, positionals }: ApiCall): Promise<Outcome> {
  const { definition } = readPolicy(positionals[0] ?? "");
  const result = await client.tryPolicy(definition);
  return { result, text: trialText(result) };
}

type Count = PolicyOutcome["rows"][number];

const countText = ({ activities, frauds }: Count) => `${activities.toLocaleString("en")} (${frauds.toLocaleString("en")})`;

function trialText({ from, until, tried, current }: PolicyTrial): string {
  const lines = tried.moments.flatMap(({ moment, all, allowed, challenged, blocked }) => {
    const now = current.moments.find((each) => each.moment === moment);
    if (all.activities === 0 || !now) return [];
    return [[moment, ...[all, allowed, challenged, blocked, now.challenged, now.blocked].map(countText)]];
  });
  const columns = ["moment", "activities", "allowed", "challenged", "blocked", "challenged now", "blocked now"];
  return [
    `from ${from} to ${until}, known frauds in brackets`,
    "",
    lines.length === 0 ? "no activity" : table(columns, lines),
    "",
    table(
      ["row", "decided"],
      tried.rows.map((count, index) => [index + 1, countText(count)]),
    ),
  ].join("\n");
}

const ofFile = { positionals: { min: 1, max: 1 }, options: apiOptions, wants, check };

export const policyCommands: Command[] = [
  {
    name: "policy show",
    usage: "policy show",
    summary: "shows what the service answers to assessments",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(show),
  },
  {
    ...ofFile,
    name: "policy set",
    usage: "policy set <file.json>",
    summary: "replaces the policy with the one in a file, in the format of policy show --json",
    run: overApi(set),
  },
  {
    ...ofFile,
    name: "policy try",
    usage: "policy try <file.json>",
    summary: "reports what a policy would have answered in the last 30 days, and changes nothing",
    run: overApi(attempt),
  },
];
