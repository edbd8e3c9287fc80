// The connection string of one server, and the name by which messages call the server.
export type Host = { name: string; url: string };
// With `isStrict`, only a server that accepts writes is used. Otherwise a read-only one serves reads.
export type Servers = { hosts: Host[]; isStrict: boolean };

const hostsMax = 16;
const portDefault = "5432";
const form = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;
// The service must write, so it cannot use a server that is chosen because it is read-only.
const wantedAttributes = new Map([
  ["any", false],
  ["read-write", true],
  ["primary", true],
]);

// Reads an address in libpq's form, which may name several hosts: postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write.
// Returns what is wrong with it as a text. The text never contains the password.
export function readServers(url: string): Servers | string {
  const [, scheme, user, authority = "", path = "", query = ""] = form.exec(url) ?? [];
  if (scheme === undefined) return "must begin with postgres:// or postgresql://";
  const params = new URLSearchParams(query);
  const wanted = params.get("target_session_attrs") ?? "any";
  const isWriting = wantedAttributes.get(wanted);
  if (isWriting === undefined) return `has target_session_attrs=${wanted}, but the service writes: use read-write`;
  const places = readPlaces(authority, params.get("host"), params.get("port"));
  if (typeof places === "string") return places;
  // The driver reads an address with a single host by itself.
  const [first = { host: "", port: "" }, ...more] = places;
  if (more.length === 0) return { hosts: [{ name: nameOf(first), url }], isStrict: isWriting };
  for (const name of ["host", "port", "target_session_attrs"]) params.delete(name);
  const hosts = places.map((place) => {
    const own = new URLSearchParams([["host", place.host], ["port", place.port], ...params]);
    const text = own.toString().replaceAll("+", "%20");
    return { name: nameOf(place), url: `${scheme}${user === undefined ? "" : `${user}@`}${path || "/"}?${text}` };
  });
  return { hosts, isStrict: true };
}

type Place = { host: string; port: string };

function nameOf({ host, port }: Place): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function readPlaces(authority: string, hostParam: string | null, portParam: string | null): Place[] | string {
  const places =
    hostParam === null ? authority.split(",").map(readPlace) : hostParam.split(",").map((host) => ({ host, port: "" }));
  if (places.length > hostsMax) return `names more than ${hostsMax} hosts`;
  const isOne = places.length === 1;
  if (!isOne && places.some(({ host }) => host === "")) return "names several hosts, and one of them is empty";
  const ports = portParam?.split(",") ?? [];
  if (ports.length > 1 && ports.length !== places.length) return "must have one port for all hosts, or one for each";
  const whole = places.map(({ host, port }, at) => ({ host, port: ports[at] ?? ports[0] ?? (port || portDefault) }));
  const wrong = whole.find(({ port }) => !isOne && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535));
  return wrong ? `has the port ${JSON.stringify(wrong.port)} for the host ${wrong.host}` : whole;
}

function readPlace(text: string): Place {
  const [, bracketed, plain, port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(text) ?? [];
  let host = bracketed ?? plain ?? text;
  try {
    host = decodeURIComponent(host);
  } catch {
    // Kept as it is. It names no server.
  }
  return { host, port };
}
