import { CasehoundClient } from "@casehound/client";
import { Failure } from "../domain/failure.ts";
import {
  UsageFault,
  readSlug,
  textOption,
  tenantOption,
  type Call,
  type Command,
  type Options,
  type Outcome,
  type Terminal,
} from "./command.ts";
import { isTimeout, tellUnreached } from "./reach.ts";
import type { Wants } from "./store.ts";
import { mintToken } from "./mint.ts";

export const apiOptions: Command["options"] = {
  tenant: tenantOption,
  url: { type: "string", describe: "the service's address (default: from the environment, or as the service stored it)" },
  "client-id": { type: "string", describe: "the client whose scopes are used (default: the tenant's first client)" },
};

const readTimeoutMs = 15_000;

// A read that hangs is aborted and not retried, because a person is waiting. A read that itself waits for events has no limit, nor
// has a file.
const limitedFetch: typeof fetch = (input, init) => {
  const isRead = init?.method === "GET" && typeof input === "string" && !/[?&]wait=/.test(input) && !isFile(init);
  if (!isRead) return fetch(input, init);
  const limit = AbortSignal.timeout(readTimeoutMs);
  return fetch(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit });
};

function isFile({ headers }: RequestInit): boolean {
  return new Headers(headers).get("accept") === "text/csv";
}

// A change is retried under the same key, which takes long if the service hangs.
function tellRetry({ err }: Terminal): (retry: { error: unknown; attempt: number }) => void {
  return ({ error, attempt }) => {
    if (isTimeout(error)) err(`casehound: no response after ${attempt} attempts, retrying\n`);
  };
}

export type ApiCall = Call & { client: CasehoundClient; baseUrl: string; slug: string; token: () => Promise<string> };

// Makes a command that calls the running service, with a token that it mints for itself.
export function overApi(run: (call: ApiCall) => Promise<Outcome>): Command["run"] {
  return async (call) => {
    const slug = readSlug(textOption(call.options, "tenant") ?? "demo");
    // Minted when it is first needed, so that wrong options are reported first.
    const options = { tenant: slug, "client-id": call.options["client-id"] };
    const token = async () => (await mintToken({ ...call, options })).text;
    const baseUrl = (textOption(call.options, "url") ?? (await call.store.address()))?.replace(/\/+$/, "");
    if (baseUrl === undefined)
      throw new Failure(
        "service-unavailable",
        "no service has been started on this database yet: run npm start, or give an address with --url",
      );
    if (!/^https?:\/\//.test(baseUrl)) throw new UsageFault("--url must begin with http:// or https://");
    const told = { fetch: limitedFetch, hooks: { onRetry: tellRetry(call.terminal) } };
    const client = new CasehoundClient({ baseUrl, tenant: slug, credentials: { token }, ...told });
    try {
      return await run({ ...call, client, baseUrl, slug, token });
    } catch (error) {
      // The id cannot be part of a path.
      if (error instanceof RangeError) throw new UsageFault(error.message, { cause: error });
      // A TypeError without a cause is a bug, not a failed request.
      if (!isTimeout(error) && !(error instanceof TypeError && error.cause !== undefined)) throw error;
      const { detail, next } = await tellUnreached(baseUrl, error);
      throw new Failure("service-unavailable", `${detail}: ${next}, or give another address with --url`, { cause: error });
    }
  };
}

export function readWhole(
  options: Options,
  name: string,
  { least, most, fallback }: { least: number; most: number; fallback: number },
) {
  const value = Number(textOption(options, name) ?? fallback);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new UsageFault(`--${name} must be a whole number from ${least} to ${most}`);
  return value;
}

export function readOneOf<T extends string>(options: Options, name: string, allowed: readonly T[]): T | undefined {
  const given = textOption(options, name);
  const found = allowed.find((each) => each === given);
  if (given !== undefined && found === undefined) throw new UsageFault(`--${name} must be one of ${allowed.join(", ")}`);
  return found;
}

export function readFlag(options: Options, name: string): boolean | undefined {
  const given = readOneOf(options, name, ["true", "false"]);
  return given === undefined ? undefined : given === "true";
}

export const wants: Wants = { schema: "current", newDatabase: false };
