import type { CasehoundClient, NewView, View } from "@casehound/client";
import { Failure } from "../domain/failure.ts";
import { apiOptions, overApi, readWhole, wants, type ApiCall } from "./api.ts";
import { caseListMembers, caseListOptions } from "./case-list-options.ts";
import { textOption, type Command, type Outcome } from "./command.ts";
import { table } from "./table.ts";

async function list({ client }: ApiCall): Promise<Outcome> {
  const [{ views }, { counts }] = await Promise.all([client.listViews(), client.getViewCounts()]);
  const countOf = new Map(counts.map(({ view_id, cases, is_more }) => [view_id, `${cases}${is_more ? "+" : ""}`]));
  const lines = views.map((view) => [
    view.name,
    countOf.get(view.view_id) ?? "?",
    view.is_shared ? "yes" : "no",
    view.owner,
    [...Object.entries(view.filter), ["sort", view.sort]].map(([name, value]) => `${name}=${value}`).join(" "),
  ]);
  const text = views.length === 0 ? "no views" : table(["view", "cases", "shared", "owner", "filter"], lines);
  return { result: { views, counts }, text };
}

// Own views come first, so they hide the shared views of others with the same name.
export async function findView(client: CasehoundClient, name: string): Promise<View> {
  const view = (await client.listViews()).views.find((each) => each.name === name);
  if (!view) throw new Failure("item-not-found", `there is no view with the name ${name}`);
  return view;
}

async function save({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const { sort, ...filter } = caseListMembers(options);
  const key =
    textOption(options, "key") === undefined ? {} : { key: readWhole(options, "key", { least: 1, most: 9, fallback: 1 }) };
  // The service checks the values.
  const body = { name: positionals[0], filter, ...(sort !== undefined && { sort }), ...key } as NewView;
  const view = await client.createView({ ...body, is_shared: options["shared"] === true });
  return { result: view, text: `the view ${view.name} is saved` };
}

async function remove({ client, positionals: [name = ""] }: ApiCall): Promise<Outcome> {
  const { view_id } = await findView(client, name);
  await client.deleteView(view_id);
  return { result: { view_id }, text: `the view ${name} is deleted` };
}

export const viewCommands: Command[] = [
  {
    name: "views",
    usage: "views",
    summary: "lists saved views and how many cases each has",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(list),
  },
  {
    name: "views save",
    usage: "views save <name> [--shared] [--key <1-9>] [--status OPEN|CLOSED] [--min-score <n>] ...",
    summary: "saves filters and a sort of the case list under a name",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      ...caseListOptions,
      shared: { type: "boolean", describe: "everybody in the tenant sees the view" },
      key: { type: "string", describe: "in the console, G and this digit open the view" },
    },
    wants,
    run: overApi(save),
  },
  {
    name: "views delete",
    usage: "views delete <name>",
    summary: "deletes a saved view",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(remove),
  },
];
