import type { EndUserAccount, EndUserAccountChange } from "@casehound/client";
import { apiOptions, overApi, readFlag, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { listText, rows, table } from "./table.ts";

const flagOptions: Command["options"] = {
  blocked: { type: "string", describe: "true or false" },
  quarantined: { type: "string", describe: "true or false" },
  fraudulent: { type: "string", describe: "true or false" },
};

function readFlags({ options }: ApiCall): Pick<EndUserAccountChange, "is_blocked" | "is_quarantined" | "is_fraudulent"> {
  const [blocked, quarantined, fraudulent] = ["blocked", "quarantined", "fraudulent"].map((name) => readFlag(options, name));
  return {
    ...(blocked !== undefined && { is_blocked: blocked }),
    ...(quarantined !== undefined && { is_quarantined: quarantined }),
    ...(fraudulent !== undefined && { is_fraudulent: fraudulent }),
  };
}

function flagsOf({ is_blocked, is_quarantined, is_fraudulent }: EndUserAccount): string {
  const set = [is_blocked && "blocked", is_quarantined && "quarantined", is_fraudulent && "fraudulent"].filter(Boolean);
  return set.length === 0 ? "none" : set.join(", ");
}

async function list(call: ApiCall): Promise<Outcome> {
  const limit = readWhole(call.options, "limit", { least: 1, most: 1000, fallback: 20 });
  const crm = textOption(call.options, "crm");
  const result = await call.client.listEndUserAccounts({
    limit,
    ...readFlags(call),
    ...(crm !== undefined && { crm_account_id: crm }),
  });
  const lines = result.end_user_accounts.map((each) => [
    each.website_account_id,
    flagsOf(each),
    each.crm_account_id,
    each.updated_at,
  ]);
  const columns = ["account", "flags", "crm id", "updated"];
  return { result, text: lines.length === 0 ? "no accounts" : listText(table(columns, lines), result) };
}

function accountText(account: EndUserAccount): string {
  const { website_account_id: id, crm_account_id: crm, created_at, updated_at } = account;
  return rows({ account: id, flags: flagsOf(account), "crm id": crm, created: created_at, updated: updated_at });
}

async function show({ client, positionals }: ApiCall): Promise<Outcome> {
  const result = await client.getEndUserAccount(positionals[0] ?? "");
  return { result, text: accountText(result) };
}

async function set(call: ApiCall): Promise<Outcome> {
  const crm = textOption(call.options, "crm");
  const change = { ...readFlags(call), ...(crm !== undefined && { crm_account_id: crm === "" ? null : crm }) };
  if (Object.keys(change).length === 0)
    throw new UsageFault("nothing to set: give --blocked, --quarantined, --fraudulent or --crm");
  const result = await call.client.updateEndUserAccount(call.positionals[0] ?? "", change);
  return { result, text: accountText(result) };
}

export const accountCommands: Command[] = [
  {
    name: "accounts list",
    usage: "accounts list [--blocked true|false] [--crm <id>] [--limit <n>]",
    summary: "lists end-user accounts",
    positionals: { min: 0, max: 0 },
    options: {
      ...apiOptions,
      ...flagOptions,
      crm: { type: "string", describe: "only accounts with this CRM id" },
      limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
    },
    wants,
    run: overApi(list),
  },
  {
    name: "accounts show",
    usage: "accounts show <account_id>",
    summary: "shows an end-user account",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(show),
  },
  {
    name: "accounts set",
    usage: "accounts set <account_id> [--blocked true|false] [--crm <id>]",
    summary: "sets an account's flags or CRM id",
    positionals: { min: 1, max: 1 },
    options: { ...apiOptions, ...flagOptions, crm: { type: "string", describe: 'its CRM id, or "" for none' } },
    wants,
    run: overApi(set),
  },
];
