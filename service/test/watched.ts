import { randomUUID } from "node:crypto";
import type { Environment, ServiceProcess } from "./launch.ts";

export const credentials = { tenant: "watched", client_id: "watched-client", client_secret: `secret-${randomUUID()}` };

// A service process that logs everything, with a client whose secret is known.
export function startWatched(
  start: (env: Environment) => Promise<ServiceProcess>,
  databaseUrl: string,
  more: Environment = {},
): Promise<ServiceProcess> {
  return start({
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: "debug",
    BOOTSTRAP_TENANT: credentials.tenant,
    BOOTSTRAP_CLIENT_ID: credentials.client_id,
    BOOTSTRAP_CLIENT_SECRET: credentials.client_secret,
    ...more,
  });
}
