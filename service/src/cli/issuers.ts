import type { NewSignInIssuer, SignInIssuer } from "@casehound/client";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import type { Call, Command, Outcome } from "./command.ts";
import { readJsonObject } from "./json-file.ts";
import { table } from "./table.ts";

function issuerTable(issuers: SignInIssuer[]): string {
  const lines = issuers.map((each) => [
    each.issuer_key,
    each.name,
    each.issuer,
    each.role_groups.map(({ group, role }) => `${group}=${role}`).join(" ") || "none",
    each.without_group === "refuse" ? "refused" : each.default_role,
    each.redirect_uri,
  ]);
  return table(["issuer", "name", "url", "groups", "others", "redirect URI"], lines);
}

async function list({ client }: ApiCall): Promise<Outcome> {
  const result = await client.listSignInIssuers();
  return { result, text: result.issuers.length === 0 ? "no issuers" : issuerTable(result.issuers) };
}

async function create({ client, positionals: [file = ""] }: ApiCall): Promise<Outcome> {
  const result = await client.createSignInIssuer(readJsonObject(file) as NewSignInIssuer);
  return { result, text: issuerTable([result]) };
}

async function set({ client, positionals: [key = "", file = ""] }: ApiCall): Promise<Outcome> {
  const result = await client.updateSignInIssuer(key, readJsonObject(file));
  return { result, text: issuerTable([result]) };
}

async function remove({ client, positionals: [issuer_key = ""] }: ApiCall): Promise<Outcome> {
  await client.deleteSignInIssuer(issuer_key);
  return { result: { issuer_key }, text: `the issuer ${issuer_key} is deleted` };
}

async function check({ positionals }: Omit<Call, "store">): Promise<void> {
  readJsonObject(positionals.at(-1) ?? "");
}

// The settings are read from a file, because other users of the machine can see the arguments of a command, and the secret is one.
export const issuerCommands: Command[] = [
  {
    name: "issuers list",
    usage: "issuers list",
    summary: "lists the identity providers that people can sign in with",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(list),
  },
  {
    name: "issuers create",
    usage: "issuers create <file>",
    summary: "adds an identity provider from a JSON file with the members of the API",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    check,
    run: overApi(create),
  },
  {
    name: "issuers set",
    usage: "issuers set <issuer_key> <file>",
    summary: "changes an identity provider; members that are not in the file stay as they are",
    positionals: { min: 2, max: 2 },
    options: apiOptions,
    wants,
    check,
    run: overApi(set),
  },
  {
    name: "issuers delete",
    usage: "issuers delete <issuer_key>",
    summary: "deletes an identity provider, and signs out everybody who used it",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(remove),
  },
];
