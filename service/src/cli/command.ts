import { clientIdFault, slugFault } from "../domain/slug.ts";
import type { Environment } from "../config.ts";
import type { Store, Wants } from "./store.ts";

export class UsageFault extends Error {}

// `values` are the ones that shell completion offers.
export type Option = { type: "string" | "boolean"; multiple?: boolean; describe: string; values?: readonly string[] };
export type Options = Record<string, string | boolean | (string | boolean)[] | undefined>;
// Where a command runs. Without `env` it uses the process's environment.
export type Terminal = { env?: Environment | undefined; out: (text: string) => void; err: (text: string) => void };
export type Call = { store: Store; positionals: string[]; options: Options; terminal: Terminal };
export type Outcome = { result: unknown; text: string; isFailure?: boolean };

export type Command = {
  name: string;
  usage: string;
  summary: string;
  positionals: { min: number; max: number };
  options: Record<string, Option>;
  // Null means that the command needs no database and gets none.
  wants: Wants | null;
  // Rejects what can be rejected before a database is opened or created.
  check?: (call: Omit<Call, "store">) => Promise<void>;
  run: (call: Call) => Promise<Outcome>;
};

export const tenantOption: Option = { type: "string", describe: "the tenant's slug (default demo)" };

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function readSlug(slug: string): string {
  const fault = slugFault(slug);
  if (fault !== null) throw new UsageFault(fault);
  return slug;
}

export function readClientId(options: Options): { clientId?: string } {
  const clientId = textOption(options, "client-id");
  const fault = clientId === undefined ? null : clientIdFault(clientId);
  if (fault !== null) throw new UsageFault(fault);
  return clientId === undefined ? {} : { clientId };
}
