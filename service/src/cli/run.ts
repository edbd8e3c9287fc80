import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ProblemError, WrongBaseAddress } from "@casehound/client";
import { readConfig } from "../config.ts";
import { BackupFault } from "../db/backup/dump-file.ts";
import { Failure } from "../domain/failure.ts";
import { databaseFault, isDatabaseTrouble, isOperators } from "../operator.ts";
import { backupCommands } from "./backup.ts";
import { accountCommands } from "./accounts.ts";
import { caseCommands } from "./cases.ts";
import { UsageFault, type Command, type Terminal } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { distributeCommand } from "./distribute.ts";
import { doctor } from "./doctor.ts";
import { approvalCommands } from "./approvals.ts";
import { dueTimeCommands } from "./due-times.ts";
import { eventCommands } from "./events.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { issuerCommands } from "./issuers.ts";
import { labelCommands } from "./labels.ts";
import { listCommands } from "./lists.ts";
import { policyCommands } from "./policy.ts";
import { ruleCommands } from "./rules.ts";
import { scimCommands } from "./scim.ts";
import { searchCommand } from "./search.ts";
import { snoozeCommands } from "./snoozes.ts";
import { viewCommands } from "./views.ts";
import { openStore, type Store } from "./store.ts";
import { cellText, printable } from "./table.ts";
import { tenantCommands } from "./tenants.ts";
import { tokenCommands } from "./tokens.ts";
import { userCommands } from "./users.ts";
import { webhookCommands } from "./webhooks.ts";

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

const commands: Command[] = [
  serve,
  ...tenantCommands,
  ...userCommands,
  ...issuerCommands,
  ...scimCommands,
  ...tokenCommands,
  ...caseCommands,
  exportCommand,
  searchCommand,
  ...viewCommands,
  ...accountCommands,
  ...ruleCommands,
  ...listCommands,
  ...policyCommands,
  ...approvalCommands,
  ...dueTimeCommands,
  ...snoozeCommands,
  ...eventCommands,
  importCommand,
  ...labelCommands,
  ...webhookCommands,
  ...backupCommands,
  distributeCommand,
  doctor,
  completionCommand(() => commands),
];
const exitDone = 0;
const exitFailed = 1;
const exitUsage = 2;

// Lists all commands, or those that begin with a word.
function help(word?: string): string {
  const told = commands.filter(({ name }) => word === undefined || name.split(" ")[0] === word);
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

function findCommand(words: string[]): { command: Command; rest: string[] } {
  const command = commands
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
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
  if (["", "--help", "-h", "help"].includes(first)) return print(help());
  if (first === "--version") return print(`casehound ${version()}`);
  // --help after the first word of a command, as in "tenant --help".
  const isHalf = args.length === 2 && commands.some(({ name }) => name.startsWith(`${first} `)) && second === "--help";
  if (isHalf) return print(help(first));
  const { command, rest } = findCommand(args);
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
