import { expect, test } from "vitest";
import { NoTurn } from "./faults.ts";
import { Hosts } from "./hosts.ts";

test("hosts: a connection that waited too long in this process does not make its server a lost one", () => {
  const hosts = new Hosts(
    { hosts: [{ name: "db-1", url: "postgresql://casehound@127.0.0.1:1/casehound" }], isStrict: false },
    {},
    () => {},
  );
  hosts.failed(hosts.current, new NoTurn());
  expect(hosts.isFine).toBe(true);
  hosts.failed(hosts.current, new Error("timeout expired"));
  expect(hosts.isFine).toBe(false);
  hosts.end();
});
