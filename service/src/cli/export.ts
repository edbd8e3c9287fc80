import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Type } from "typebox";
import { caseSorts, filterParameters } from "../db/case-filters.ts";
import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Call, type Command, type Option, type Options, type Outcome } from "./command.ts";
import { Progress } from "./progress.ts";

// An option for each filter of the list, under the filter's own name.
const parameters = { ...filterParameters, sort: Type.Enum([...caseSorts]) };
const names = Object.keys(parameters);
const optionOf = (name: string) => name.replaceAll("_", "-");

function describe(name: string): Option {
  const { enum: values, format, description } = parameters[name as keyof typeof parameters] as Facts;
  const hint = values?.join(", ") ?? (format === "date-time" ? "a UTC time, such as 2026-11-01T00:00:00Z" : description);
  return { type: "string", describe: hint ?? `as the parameter ${name} of the API`, ...(values && { values }) };
}

// The members of a JSON Schema that say what may be given.
type Facts = { enum?: string[]; format?: string; description?: string };

// The service checks the values, so that there is only one place that knows them.
function queryOf(options: Options): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(options, optionOf(name));
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function check({ positionals }: Omit<Call, "store">): Promise<void> {
  const file = positionals[0] ?? "";
  if (statSync(file, { throwIfNoEntry: false })) throw new UsageFault(`${file} exists already`);
}

// Writes to another name first, so that a file with the given name is always complete.
async function exportCases({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const file = positionals[0] ?? "";
  const part = `${file}.part`;
  const response = await client.exportCsv("listCases", { query: queryOf(options) });
  if (!response.body) throw new Failure("bad-gateway", "the service sent no file");
  const progress = new Progress();
  let lines = 0;
  const counting = new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines++;
      progress.show(() => `${lines.toLocaleString("en")} lines written`);
      done(null, piece);
    },
  });
  try {
    await pipeline(response.body, counting, createWriteStream(part, { flags: "w" }));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error instanceof TypeError
      ? new Failure("bad-gateway", "the connection was lost before the file was complete: run the command again", {
          cause: error,
        })
      : error;
  } finally {
    progress.clear();
  }
  const cases = Math.max(lines - 1, 0);
  return { result: { file, cases }, text: `${cases.toLocaleString("en")} cases in ${file}` };
}

export const exportCommand: Command = {
  name: "cases export",
  usage: "cases export <file.csv> [--status OPEN|CLOSED] [--label <label>] [--min-score <n>] ...",
  summary: "writes all cases as filtered to a CSV file",
  positionals: { min: 1, max: 1 },
  options: {
    ...apiOptions,
    ...Object.fromEntries(names.map((name) => [optionOf(name), describe(name)])),
  },
  wants,
  check,
  run: overApi(exportCases),
};
