import { CasehoundClient, newKey } from "@casehound/client";
import type { Desk } from "../changes/desk.ts";
import { Outbox } from "../changes/outbox.ts";

export type ConsoleClient = Pick<CasehoundClient, "call" | "exportCsv">;

// One client for all reads and writes. It does not retry: queries retry their reads, and the outbox retries writes.
export function openClient(tenant: string, csrfToken: () => string): CasehoundClient {
  return new CasehoundClient({ baseUrl: "", tenant, credentials: { session: { csrfToken } }, attemptsMax: 1 });
}

export function openDesk(client: ConsoleClient): Desk {
  return { client, outbox: new Outbox(), newKey };
}
