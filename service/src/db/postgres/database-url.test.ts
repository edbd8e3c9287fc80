import { expect, test } from "vitest";
import { Client } from "pg";
import { readServers } from "./database-url.ts";

function read(url: string): { names: string[]; isStrict: boolean; places: unknown[] } {
  const servers = readServers(url);
  if (typeof servers === "string") throw new Error(servers);
  const places = servers.hosts.map(({ url }) => {
    const { host, port, user, database } = new Client({ connectionString: url });
    return { host, port, user, database };
  });
  return { names: servers.hosts.map(({ name }) => name), isStrict: servers.isStrict, places };
}

test("url: a single host is left to the driver", () => {
  const url = "postgres://u:p%40@db.example/cases?sslmode=verify-full";
  expect(readServers(url)).toEqual({ hosts: [{ name: "db.example:5432", url }], isStrict: false });
  expect(readServers("postgresql://u@/d?host=%2Ftmp%2Fx")).toMatchObject({ hosts: [{ name: "/tmp/x:5432" }], isStrict: false });
});

test.each(["any", "read-write", "primary"])("url: target_session_attrs=%s", (wanted) => {
  expect(read(`postgres://u@a/d?target_session_attrs=${wanted}`).isStrict).toBe(wanted !== "any");
});

test.each([
  ["postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write", ["a:5432", "b:5433"]],
  ["postgres://u:p@a,b:5433/db", ["a:5432", "b:5433"]],
  ["postgres://u:p@[::1]:5433,[fd00::2]/db", ["[::1]:5433", "[fd00::2]:5432"]],
  ["postgres://u:p@/db?host=a,b&port=5433", ["a:5433", "b:5433"]],
  ["postgres://u:p@/db?host=a,b&port=1,2", ["a:1", "b:2"]],
  ["postgres://u:p@/db?host=%2Ftmp%2Fa%20b,c", ["/tmp/a b:5432", "c:5432"]],
])("url: %s names several hosts", (url, names) => {
  const { isStrict, places, ...rest } = read(url);
  expect(rest).toEqual({ names });
  expect(isStrict).toBe(true);
  const wanted = names.map((name) => ({
    host: name.replace(/:\d+$/, "").replace(/^\[|\]$/g, ""),
    port: Number(/\d+$/.exec(name)?.[0]),
  }));
  expect(places).toEqual(wanted.map((place) => ({ ...place, user: "u", database: "db" })));
});

test("url: what is not about hosts is the same for all of them", () => {
  const servers = readServers("postgres://u:p%2F%40@a,b/my%20db?application_name=x%20y&target_session_attrs=primary");
  if (typeof servers === "string") throw new Error(servers);
  for (const { url } of servers.hosts) {
    const client = new Client({ connectionString: url });
    expect([client.user, client.password, client.database]).toEqual(["u", "p/@", "my db"]);
    expect(url).not.toContain("target_session_attrs");
  }
});

test.each([
  ["mysql://a/b", /must begin with postgres/],
  ["postgres://u:secret@a,b/db?target_session_attrs=standby", /target_session_attrs=standby.*read-write/],
  ["postgres://u:secret@a,/db", /one of them is empty/],
  ["postgres://u:secret@a:1,b:x/db", /port "x" for the host b/],
  ["postgres://u:secret@a:1,b:70000/db", /port "70000"/],
  ["postgres://u:secret@a,b,c/db?port=1,2", /one port for all hosts, or one for each/],
  [`postgres://u:secret@${"a,".repeat(16)}b/db`, /more than 16 hosts/],
])("url: %s is refused without its password", (url, message) => {
  const fault = readServers(url);
  expect(fault).toMatch(message);
  expect(fault).not.toContain("secret");
});
