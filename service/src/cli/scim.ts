import type { ScimToken } from "@casehound/client";
import { apiOptions, overApi, wants, type ApiCall } from "./api.ts";
import { notFound } from "../domain/failure.ts";
import type { Command, Outcome } from "./command.ts";
import { table } from "./table.ts";

function tokenTable(tokens: ScimToken[]): string {
  const lines = tokens.map(({ name, scim_token_id, adopts_people, created_by, created_at, last_used_at }) => [
    name,
    scim_token_id,
    adopts_people ? "everybody" : "those it creates",
    created_by,
    created_at,
    last_used_at ?? "never",
  ]);
  return table(["name", "id", "manages", "created by", "created at", "last used"], lines);
}

async function list({ client }: ApiCall): Promise<Outcome> {
  const result = await client.listScimTokens();
  return { result, text: result.scim_tokens.length === 0 ? "no SCIM tokens" : tokenTable(result.scim_tokens) };
}

async function create({ client, positionals: [name = ""], options }: ApiCall): Promise<Outcome> {
  const result = await client.createScimToken({ name, adopts_people: options["adopt"] === true });
  const { base_url } = await client.getProvisioning();
  return {
    result: { ...result, base_url },
    text: `base URL  ${base_url}\ntoken     ${result.token}\nThe token is not shown again.`,
  };
}

async function revoke({ client, positionals: [name = ""] }: ApiCall): Promise<Outcome> {
  const { scim_tokens } = await client.listScimTokens();
  const token = scim_tokens.find((each) => each.name === name || each.scim_token_id === name);
  if (!token) throw notFound("SCIM token", name);
  await client.revokeScimToken(token.scim_token_id);
  return { result: { scim_token_id: token.scim_token_id }, text: `the SCIM token ${token.name} is revoked` };
}

export const scimCommands: Command[] = [
  {
    name: "scim tokens list",
    usage: "scim tokens list",
    summary: "lists the tokens of directories that provision people",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(list),
  },
  {
    name: "scim tokens create",
    usage: "scim tokens create <name>",
    summary: "creates a token for a directory, and prints it once",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      adopt: { type: "boolean", describe: "the directory also manages the people whom it did not create" },
    },
    wants,
    run: overApi(create),
  },
  {
    name: "scim tokens revoke",
    usage: "scim tokens revoke <name>",
    summary: "revokes a token of a directory",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(revoke),
  },
];
