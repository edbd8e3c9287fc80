// A request before it is serialized, so that one thing can be changed at a time.
export type Request = {
  method: string;
  // The path with its parameters in braces.
  path: string;
  // As in the URL, already escaped.
  params: Record<string, string>;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  body?: Buffer;
};

export function bytesOf({ method, path, params, query, headers, body }: Request): Buffer {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  const search = query.map(([name, value]) => `${name}=${value}`).join("&");
  const lines = [
    `${method} ${address}${search === "" ? "" : `?${search}`} HTTP/1.1`,
    "Host: localhost",
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body ? [`Content-Length: ${body.length}`] : []),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body ? Buffer.concat([head, body]) : head;
}

export const json: [string, string] = ["Content-Type", "application/json"];

export function bearer(token: string): [string, string] {
  return ["Authorization", `Bearer ${token}`];
}

export function withHeader(request: Request, name: string, value: string | null): Request {
  const others = request.headers.filter(([each]) => each !== name);
  return { ...request, headers: value === null ? others : [...others, [name, value]] };
}
