import { peers } from "../concurrency/peers.ts";
import { enterThrough } from "../concurrency/places.ts";
import { shareLimits } from "../concurrency/share.ts";
import { taskVariable, type FromWorker, type Task, type ToWorker } from "./task.ts";

// The entry point of a worker. Only the first process acts on signals, because a terminal sends them to all processes of the service
// at once. It decides when a worker stops. If the first process dies, Node ends its workers.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});

const sendMs = 50;
// Only the first process writes it.
const task = JSON.parse(process.env[taskVariable] ?? "{}") as Task;

function send(message: FromWorker): void {
  // The first process may just have died.
  process.send?.(message, undefined, undefined, () => {});
}

const handlers = new Map<ToWorker["kind"], (message: never) => void>();
// A request to stop may come before anything listens for it.
const unhandled: ToWorker[] = [];
const pass = (message: ToWorker) => {
  const handle = handlers.get(message.kind);
  if (handle) handle(message as never);
  else unhandled.push(message);
};
process.on("message", pass);

function listenTo<K extends ToWorker["kind"]>(kind: K, handle: (message: Extract<ToWorker, { kind: K }>) => void): void {
  handlers.set(kind, handle);
  for (const message of unhandled.splice(0)) pass(message);
}

function joinPeers(): void {
  peers.open(task.salt);
  listenTo("counts", ({ counts }) => peers.receive(counts));
  setInterval(() => {
    const counts = peers.takeUnsent();
    if (counts.length > 0) send({ kind: "counts", counts });
  }, sendMs).unref();
  const waiting = new Map<number, (isGranted: boolean) => void>();
  let nextId = 0;
  listenTo("answer", ({ id, isGranted }) => {
    waiting.get(id)?.(isGranted);
    waiting.delete(id);
  });
  enterThrough({
    enter: (wanted) =>
      new Promise((resolve) => {
        waiting.set(nextId, resolve);
        send({ kind: "ask", id: nextId++, wanted });
      }),
    leave: (limit, key) => send({ kind: "leave", limit, key }),
  });
}

// Limits are read when their modules are loaded, so these come first.
shareLimits(task.shares);
joinPeers();
const { runWorker } = await import("./run-worker.ts");
await runWorker(task, { send, listenTo });
