import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ProblemError, WrongBaseAddress } from "@casehound/client";
import { readConfig } from "../config.ts";
import { BackupFault } from "../db/backup/dump-file.ts";
import { Failure } from "../domain/failure.ts";
import { databaseFault, isDatabaseTrouble, isOperators } from "../operator.ts";
import { UsageFault, type Command, type Terminal } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { openStore, type Store } from "./store.ts";
import { cellText, printable } from "./table.ts";

// Works differently from the other commands: it becomes the service's process and prints what the service prints.
const serve: Command = {
  name: "serve",
  usage: "serve",
  summary: "starts the service, like npm start",
  positionals: { min: 0, max: 0 },
  options: {},
  wants: null,
  run: async () => {
    await import("../main.ts");
    return { result: null, text: "" };
  },
};

type Group = { words: string[]; load: () => Promise<Command[]> };

// The commands that begin with one word, or with two if the rest of the word's commands can do without them. Loading the files of
// all commands takes longer than most commands run.
export const commandGroups: Group[] = [
  { words: ["serve"], load: async () => [serve] },
  { words: ["tenant"], load: async () => (await import("./tenants.ts")).tenantCommands },
  { words: ["user", "link"], load: async () => (await import("./users.ts")).userCommands },
  { words: ["issuers"], load: async () => (await import("./issuers.ts")).issuerCommands },
  { words: ["scim"], load: async () => (await import("./scim.ts")).scimCommands },
  { words: ["client", "token", "keys", "migrate"], load: async () => (await import("./tokens.ts")).tokenCommands },
  { words: ["cases"], load: async () => (await import("./cases.ts")).caseCommands },
  { words: ["cases export"], load: async () => [(await import("./export.ts")).exportCommand] },
  { words: ["search"], load: async () => [(await import("./search.ts")).searchCommand] },
  { words: ["views"], load: async () => (await import("./views.ts")).viewCommands },
  { words: ["accounts"], load: async () => (await import("./accounts.ts")).accountCommands },
  { words: ["rules"], load: async () => (await import("./rules.ts")).ruleCommands },
  { words: ["lists"], load: async () => (await import("./lists.ts")).listCommands },
  { words: ["policy"], load: async () => (await import("./policy.ts")).policyCommands },
  { words: ["approvals"], load: async () => (await import("./approvals.ts")).approvalCommands },
  { words: ["due-times"], load: async () => (await import("./due-times.ts")).dueTimeCommands },
  { words: ["snoozes"], load: async () => (await import("./snoozes.ts")).snoozeCommands },
  { words: ["events"], load: async () => (await import("./events.ts")).eventCommands },
  { words: ["import"], load: async () => [(await import("./import.ts")).importCommand] },
  { words: ["labels"], load: async () => (await import("./labels.ts")).labelCommands },
  { words: ["webhooks"], load: async () => (await import("./webhooks.ts")).webhookCommands },
  { words: ["backup", "restore"], load: async () => (await import("./backup.ts")).backupCommands },
  { words: ["distribute"], load: async () => [(await import("./distribute.ts")).distributeCommand] },
  { words: ["doctor"], load: async () => [(await import("./doctor.ts")).doctor] },
  { words: ["completion"], load: async () => [completionCommand(() => load(commandGroups))] },
];

async function load(groups: Group[]): Promise<Command[]> {
  return (await Promise.all(groups.map((group) => group.load()))).flat();
}

function groupsWith(isWanted: (begin: string) => boolean): Group[] {
  return commandGroups.filter(({ words }) => words.some(isWanted));
}

const exitDone = 0;
const exitFailed = 1;
const exitUsage = 2;

// Lists all commands, or those that begin with a word.
async function help(word?: string): Promise<string> {
  const all = await load(groupsWith((begin) => word === undefined || begin.split(" ")[0] === word));
  const told = all.filter(({ name }) => word === undefined || name.split(" ")[0] === word);
  const width = Math.max(...told.map((command) => command.usage.length));
  const lines = told.map((command) => `  ${command.usage.padEnd(width)}  ${command.summary}`);
  if (word !== undefined)
    return [`Usage: ./casehound ${word} ...`, "", ...lines, "", "Add --help to a command to list its options."].join("\n");
  return [
    "Usage: ./casehound <command> [--json], or npm run -s cli -- <command> [--json]",
    "",
    ...lines,
    "",
    "  --json     prints the result as one JSON object",
    "  --help     prints this text, or a command's options",
    "  --version  prints the version of casehound",
    "",
    "Commands use the service's database: DATA_DIR (default ./data) or DATABASE_URL. The service may be running.",
    "Exit codes: 0 done, 1 rejected or failed, 2 wrong usage or configuration.",
  ].join("\n");
}

function commandHelp({ usage, summary, options }: Command): string {
  const lines = Object.entries(options).map(([name, { describe }]) => `  --${name.padEnd(14)} ${describe}`);
  return [`Usage: ./casehound ${usage}`, "", summary, ...(lines.length > 0 ? ["", ...lines] : [])].join("\n");
}

async function hasMore(word: string): Promise<boolean> {
  const commands = await load(groupsWith((begin) => begin.split(" ")[0] === word));
  return commands.some(({ name }) => name.startsWith(`${word} `));
}

async function findCommand(words: string[]): Promise<{ command: Command; rest: string[] }> {
  const isGiven = (name: string) => name.split(" ").every((word, index) => words[index] === word);
  const command = (await load(groupsWith(isGiven)))
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => isGiven(name));
  if (!command)
    throw new UsageFault(words.length === 0 ? "no command given" : `there is no command "${words.slice(0, 2).join(" ")}"`);
  return { command, rest: words.slice(command.name.split(" ").length) };
}

function parseCommand(command: Command, rest: string[]) {
  try {
    const types = Object.fromEntries(
      Object.entries(command.options).map(([name, { type, multiple }]) => [name, { type, multiple: multiple ?? false }]),
    );
    return parseArgs({
      args: rest,
      allowPositionals: true,
      options: { ...types, json: { type: "boolean" }, help: { type: "boolean" } },
    });
  } catch (error) {
    const [words = "", hint] = String(error instanceof Error ? error.message : error).split(". ");
    throw new UsageFault(hint === undefined ? words : `${words}; put an argument that begins with a dash last, after --`);
  }
}

// Runs one command and returns its exit code.
export async function runCommand(args: string[], terminal: Terminal): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    return tellFault(error, terminal);
  }
}

function tellFault(error: unknown, { err }: Terminal): number {
  const isMendable = isOperators(error) || error instanceof UsageFault;
  const isKnown = isMendable || [BackupFault, Failure, ProblemError, WrongBaseAddress].some((kind) => error instanceof kind);
  const text = error instanceof Error ? (isKnown ? error.message : (error.stack ?? error.message)) : String(error);
  err(`casehound: ${printable(text)}\n`);
  if (error instanceof ProblemError || error instanceof Failure)
    for (const { field, message } of error.errors ?? []) err(`casehound:   ${cellText(field)} ${cellText(message)}\n`);
  if (error instanceof UsageFault) err("casehound: --help lists the commands\n");
  return isMendable ? exitUsage : exitFailed;
}

async function run(args: string[], terminal: Terminal): Promise<number> {
  const print = (text: string): number => {
    terminal.out(`${text}\n`);
    return exitDone;
  };
  const [first = "", second = ""] = args;
  if (["", "--help", "-h", "help"].includes(first)) return print(await help());
  if (first === "--version") return print(`casehound ${version()}`);
  // --help after the first word of a command, as in "tenant --help".
  if (args.length === 2 && second === "--help" && (await hasMore(first))) return print(await help(first));
  const { command, rest } = await findCommand(args);
  const { values, positionals } = parseCommand(command, rest);
  if (values["help"] === true) return print(commandHelp(command));
  const { min, max } = command.positionals;
  if (positionals.length < min || positionals.length > max || positionals.includes(""))
    throw new UsageFault(`usage: ${command.usage}`);
  await command.check?.({ positionals, options: values, terminal });
  const store = command.wants === null ? null : await openStore(readConfig(terminal.env), command.wants);
  try {
    const { result, text, isFailure } = await command.run({ store: store ?? noStore, positionals, options: values, terminal });
    if (command !== serve) print(values["json"] === true ? JSON.stringify(result) : printable(text));
    return isFailure === true ? exitFailed : exitDone;
  } catch (error) {
    throw store !== null && isDatabaseTrouble(error) ? databaseFault(error, store.config.databaseUrl) : error;
  } finally {
    await store?.close();
  }
}

// Passed to commands that want no database.
const noStore = new Proxy({} as Store, {
  get: (_, name) => {
    throw new Error(`a command without a database used its ${String(name)}`);
  },
});

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
