import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Service, World } from "../src/service.ts";
import { runCli, type Ended } from "./cli.ts";
import { TestTenant, newDatabase } from "./harness.ts";
import { useOwnService } from "./process.ts";

export type ImportCli = {
  service: { current: Service };
  databaseUrl: string;
  newTenant: () => Promise<TestTenant>;
  // Writes a file of these lines and returns its path.
  write: (name: string, lines: string[]) => string;
  run: (tenant: TestTenant, args: string[]) => Promise<Ended>;
};

// A service with its own engine, and the command that imports into it.
export async function useImportCli(world: Partial<World> = {}): Promise<ImportCli> {
  const folder = mkdtempSync(join(tmpdir(), "casehound-import-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const databaseUrl = await newDatabase();
  const service = useOwnService({ databaseUrl }, world);
  return {
    service,
    databaseUrl,
    newTenant: () => TestTenant.create(service.current),
    write: (name, lines) => {
      const file = join(folder, name);
      writeFileSync(file, lines.join("\n"));
      return file;
    },
    run: (tenant, args) =>
      runCli(["import", ...args, "--tenant", tenant.slug], { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url }),
  };
}

// A table of payments, as a shop exports it.
export const header = "TX_ID,TX_TIME,CUSTOMER,TERMINAL,TX_AMOUNT,TX_FRAUD";
export const map = [
  "--map",
  "activity_id=TX_ID,occurred_at=TX_TIME,website_account_id=CUSTOMER",
  "--map",
  "payee_id=TERMINAL,amount=TX_AMOUNT,fraudulent=TX_FRAUD,type=:payment,currency=:EUR",
];
