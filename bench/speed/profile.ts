// A profile of Node's sampling profiler, and its summary for a span of time.
export type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  timeDeltas: number[];
  startTime: number;
};

// Shares of the time that was not idle, largest first.
export type Times = { areas: Map<string, number>; functions: Map<string, number> };

export function readProfile(text: string): Profile {
  return JSON.parse(text) as Profile;
}

// The first match wins. Entries that the profiler names in brackets have no file.
const areasByUrl: [RegExp, string][] = [
  [/^node:.*(http|llhttp)/, "Node: HTTP"],
  [/^node:/, "Node: sockets, streams, timers"],
  [/\/node_modules\/pg/, "PostgreSQL driver"],
  [/\/node_modules\//, "other packages"],
  [/\/service\/src\/api\//, "service: api"],
  [/\/service\/src\/db\//, "service: db"],
  [/\/service\//, "service: the rest"],
];
const areasByName: Record<string, string> = { "(garbage collector)": "garbage collection", "(program)": "native code" };

function areaOf({ functionName, url }: Profile["nodes"][number]["callFrame"]): string {
  return areasByUrl.find(([pattern]) => pattern.test(url))?.[1] ?? areasByName[functionName] ?? "native functions";
}

function labelOf({ functionName, url }: Profile["nodes"][number]["callFrame"]): string {
  const file = url.replace(/^.*\/node_modules\//, "").replace(/^.*\/(service\/src\/)/, "$1");
  return [functionName || "(anonymous)", ...(file === "" ? [] : [file])].join(", ");
}

function add(times: Map<string, number>, name: string, micros: number): void {
  times.set(name, (times.get(name) ?? 0) + micros);
}

// In microseconds of the machine's monotonic clock, which the profiler uses too.
export function timesOf({ nodes, samples, timeDeltas, startTime }: Profile, { from, to }: { from: number; to: number }): Times {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const areas = new Map<string, number>();
  const functions = new Map<string, number>();
  let [now, busy] = [startTime, 0];
  for (const [index, sample] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0;
    now += micros;
    const frame = frames.get(sample);
    if (!frame || now < from || now > to || frame.functionName === "(idle)") continue;
    busy += micros;
    add(areas, areaOf(frame), micros);
    add(functions, labelOf(frame), micros);
  }
  if (busy === 0) throw new Error("nothing was sampled in that span of time");
  const shares = (times: Map<string, number>) =>
    new Map([...times].map(([name, micros]) => [name, micros / busy] as const).toSorted(([, a], [, b]) => b - a));
  return { areas: shares(areas), functions: shares(functions) };
}
