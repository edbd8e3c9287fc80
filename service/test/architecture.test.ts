import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { problems } from "../src/api/http/problem.ts";
import { operations } from "../src/api/operations.ts";
import { filterParameters } from "../src/db/case-filters.ts";
import { CaseListItem } from "../src/domain/case-item.ts";
import { eventFacts } from "../src/domain/event.ts";
import { scopes } from "../src/domain/scope.ts";

// Checks ARCHITECTURE.md against the code: its paths exist, and a change needs no files other than those in its row.
const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const generated = new Set(["operations", "types", "methods", "facts"].map((name) => `client/src/${name}.ts`));

const sources = ["service/src", "console/src", "client/src"]
  .flatMap((folder) => readdirSync(join(root, folder), { withFileTypes: true, recursive: true }))
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".test.ts"))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => !generated.has(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

function filesWith(pattern: RegExp, folder = ""): string[] {
  return sources.filter(({ file, text }) => file.startsWith(folder) && pattern.test(text)).map(({ file }) => file);
}

const asPath = (path: string) => [path, `service/src/${path}`].find((each) => existsSync(join(root, each)));

// The paths of a row, from the root.
function rowOf(change: string): string[] {
  const row = new RegExp(`^\\| ${change} +\\|.*`, "m").exec(page)?.[0] ?? "";
  return [...row.matchAll(/`([\w./-]+)`/g)].flatMap(([, path = ""]) => asPath(path) ?? []);
}

function expectOnlyIn(files: string[], allowed: string[]): void {
  expect(files.filter((file) => !allowed.some((each) => file === each || (each.endsWith("/") && file.startsWith(each))))).toEqual(
    [],
  );
}

test("architecture: every path that the page names exists", () => {
  const named = [...page.matchAll(/`([\w./-]+\/[\w./-]*|[\w-]+\.tsx?)`/g)].map(([, path = ""]) => path);
  const linked = [...page.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path = ""]) => path);
  // A leading slash is an address of the service.
  const paths = [...named, ...linked].filter((path) => !path.startsWith("/"));
  expect(paths.length).toBeGreaterThan(80);
  expect(paths.filter((path) => asPath(path) === undefined)).toEqual([]);
});

test("architecture: every folder of the service's sources is listed", () => {
  const folders = readdirSync(join(root, "service/src"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${relative(root, join(entry.parentPath, entry.name))}/`);
  expect(folders.filter((folder) => !page.includes(`- \`${folder}\`:`))).toEqual([]);
});

test("architecture: every folder of the console's sources is named", () => {
  const folders = readdirSync(join(root, "console/src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.filter(({ name }) => !page.includes(`\`console/src/${name}/\``)).map(({ name }) => name)).toEqual([]);
});

test("architecture: there are at least ten rows, each with files to touch", () => {
  const changes = [...page.matchAll(/^\| (an? [\w ]+?) +\| +\d+ +\|(?! *\d)/gm)].map(([, change = ""]) => change);
  expect(changes.length).toBeGreaterThanOrEqual(13);
  expect(changes.filter((change) => rowOf(change).length === 0)).toEqual([]);
});

// Files of the console whose behaviour depends on a single event type. None of them lists types.
const readersOfEvents = ["console/src/session/open.ts", "console/src/screens/account/"];

test.each(eventFacts.map(([type]) => type))("architecture: the event %s is declared once and named where it happens", (type) => {
  const files = filesWith(new RegExp(`"${type.replace(".", "\\.")}"`));
  expect(files).toContain("service/src/domain/event.ts");
  const others = files.filter((file) => file !== "service/src/domain/event.ts");
  expectOnlyIn(others, [
    "service/src/api/",
    "service/src/engine/",
    "service/src/domain/",
    "service/src/tenancy.ts",
    ...readersOfEvents,
  ]);
  expect(others.filter((file) => file.startsWith("service/src/"))).not.toEqual([]);
  expect(rowOf("a webhook event")).toContain("service/src/domain/event.ts");
});

test("architecture: outside the table, no file names events of more than two nouns", () => {
  const lists = sources.filter(({ text }) => {
    const named = eventFacts.filter(([type]) => text.includes(`"${type}"`));
    return new Set(named.map(([type]) => type.split(".")[0])).size > 2;
  });
  expect(lists.map(({ file }) => file)).toEqual(["service/src/domain/event.ts"]);
});

// Filters whose name other nouns use too. A name of a single word, like `status`, may occur anywhere, so it is not checked.
const sharedNames = new Set([
  "website_account_id",
  "new_evidence",
  "created_after",
  "created_before",
  "claimed_by",
  "closed_by",
  "handed_to",
  "own_disposition",
]);
const ownNames = Object.keys(filterParameters).filter((name) => name.includes("_") && !sharedNames.has(name));

test.each(ownNames)("architecture: the filter %s is named only in the two tables of filters", (name) => {
  const files = filesWith(new RegExp(`\\b${name}\\b`));
  expect(files).toContain("service/src/db/case-filters.ts");
  // A list sorted by score narrows its own filter, and the queue uses the narrower of two bounds.
  const steps = ["service/src/db/lists.ts", "console/src/screens/queue/search.ts"];
  // The conditions of a policy's rows and of due times have the same names.
  const ofDueTimes = ["domain/due.ts", "api/due-times.ts", "cli/due-times.ts"].map((file) => `service/src/${file}`);
  const conditions = ["service/src/domain/policy.ts", "console/src/screens/policy/", ...ofDueTimes, "console/src/screens/due/"];
  expectOnlyIn(files, [...rowOf("a list filter"), ...steps, ...conditions]);
});

test("architecture: the columns of a case come from one list, which has every member of the case list", () => {
  const columns = readFileSync(join(root, "service/src/db/cases.ts"), "utf8");
  const missing = Object.keys(CaseListItem.properties).filter(
    (name) => name !== "case_id" && !columns.includes(`{ name: "${name}"`),
  );
  expect(missing).toEqual([]);
  expect(filesWith(/\b(insert into|update) cases\b/)).toEqual(["service/src/db/cases.ts"]);
  expect(rowOf("a field of a case")).toContain("service/src/db/cases.ts");
  // The console makes its rows from the client's list of members.
  expect(filesWith(/case_version, created_at, updated_at/)).toEqual([]);
});

test.each(Object.keys(problems))("architecture: the problem %s is declared in the files that its row names", (code) => {
  const row = rowOf("a problem type");
  expect(row.length).toBe(3);
  for (const file of row)
    expect(readFileSync(join(root, file), "utf8")).toMatch(new RegExp(`["\`]${code}["\`]|^ +${code}:`, "m"));
});

test("architecture: the client and the console do not list problems", () => {
  const lists = sources.filter(
    ({ file, text }) =>
      !file.startsWith("service/") && Object.keys(problems).filter((code) => text.includes(`"${code}"`)).length > 2,
  );
  expect(lists.map(({ file }) => file)).toEqual([]);
});

test.each(scopes.filter((scope) => scope !== "manage:webhooks"))(
  "architecture: the scope %s is in the tables that its row names",
  (scope) => {
    for (const file of rowOf("a scope").filter((each) => !each.endsWith("role.ts")))
      expect(readFileSync(join(root, file), "utf8")).toContain(`"${scope}": "`);
  },
);

test("architecture: every operation is an entry of one file of api/", () => {
  const lost = operations.filter(
    ({ id }) => filesWith(new RegExp(`\\bid: "${id}",\\n +method:`), "service/src/api/").length !== 1,
  );
  expect(lost.map(({ id }) => id)).toEqual([]);
});

test("architecture: each number is in the file that its row names", () => {
  const rows = [...page.matchAll(/^\| [^|]+ \| `(\w+)` +\| `([\w./-]+)` +\|$/gm)];
  expect(rows.length).toBeGreaterThanOrEqual(8);
  const lost = rows.filter(([, name, path = ""]) => {
    const file = asPath(path);
    return file === undefined || !new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, file), "utf8"));
  });
  expect(lost.map(([row]) => row)).toEqual([]);
});
