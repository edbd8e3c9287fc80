import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import { caseListOptions, caseListQuery } from "./case-list-options.ts";
import type { Call, Command, Outcome } from "./command.ts";
import { requireNew, writeNew } from "./new-file.ts";
import { Progress } from "./progress.ts";

async function check({ positionals }: Omit<Call, "store">): Promise<void> {
  requireNew(positionals[0] ?? "");
}

async function exportCases({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const file = positionals[0] ?? "";
  const response = await client.exportCsv("listCases", { query: caseListQuery(options) });
  if (!response.body) throw new Failure("bad-gateway", "the service sent no file");
  const progress = new Progress();
  let lines = 0;
  async function* counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines++;
      progress.show(() => `${lines.toLocaleString("en")} lines written`);
      yield piece;
    }
  }
  try {
    await writeNew(file, counted(response.body));
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
  options: { ...apiOptions, ...caseListOptions },
  wants,
  check,
  run: overApi(exportCases),
};
