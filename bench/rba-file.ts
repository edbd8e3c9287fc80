import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

// One row of the public data set of log-ins (Wiefling et al. 2022).
export type LoginRow = {
  index: string;
  at: number;
  user: string;
  ip: string;
  country: string;
  asn: number;
  agent: string;
  hasSucceeded: boolean;
  isAttackIp: boolean;
  isTakeover: boolean;
};

const columns = {
  at: "Login Timestamp",
  user: "User ID",
  ip: "IP Address",
  country: "Country",
  asn: "ASN",
  agent: "User Agent String",
  succeeded: "Login Successful",
  attackIp: "Is Attack IP",
  takeover: "Is Account Takeover",
} as const;

// Reads line by line, because the file has tens of millions of lines.
export async function* readLogins(path: string): AsyncGenerator<LoginRow> {
  let places: Record<keyof typeof columns, number> | null = null;
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line++;
    if (text === "") continue;
    const cells = cellsOf(text);
    if (places === null) places = placesOf(cells);
    else yield rowOf(cells, places, line);
  }
}

function placesOf(head: string[]): Record<keyof typeof columns, number> {
  const place = (name: string): number => {
    const found = head.indexOf(name);
    if (found === -1) throw new Error(`the file has no column ${JSON.stringify(name)}`);
    return found;
  };
  return {
    at: place(columns.at),
    user: place(columns.user),
    ip: place(columns.ip),
    country: place(columns.country),
    asn: place(columns.asn),
    agent: place(columns.agent),
    succeeded: place(columns.succeeded),
    attackIp: place(columns.attackIp),
    takeover: place(columns.takeover),
  };
}

function rowOf(cells: string[], places: Record<keyof typeof columns, number>, line: number): LoginRow {
  const cell = (name: keyof typeof columns): string => cells[places[name]] ?? "";
  const at = Date.parse(`${cell("at").replace(" ", "T")}Z`);
  if (Number.isNaN(at) || cell("user") === "") throw new Error(`line ${line} is not a log-in`);
  return {
    index: String(line),
    at,
    user: cell("user"),
    ip: cell("ip"),
    country: cell("country"),
    asn: Number(cell("asn")) || 0,
    agent: cell("agent"),
    hasSucceeded: isTrue(cell("succeeded")),
    isAttackIp: isTrue(cell("attackIp")),
    isTakeover: isTrue(cell("takeover")),
  };
}

function isTrue(text: string): boolean {
  return text.toLowerCase() === "true" || text === "1";
}

// Cells with a comma are quoted, and quotes inside them are doubled.
function cellsOf(text: string): string[] {
  const cells: string[] = [];
  for (let from = 0; from <= text.length;) {
    if (text[from] !== '"') {
      const end = text.indexOf(",", from) === -1 ? text.length : text.indexOf(",", from);
      cells.push(text.slice(from, end));
      from = end + 1;
      continue;
    }
    let end = text.indexOf('"', from + 1);
    while (text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end === -1) throw new Error("a quote is not closed");
    cells.push(text.slice(from + 1, end).replaceAll('""', '"'));
    from = end + 2;
  }
  return cells;
}
