import type { ChildProcess } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { ConfigFault } from "../config.ts";
import type { LineRelay } from "./line-relay.ts";
import { taskVariable, type FromWorker, type Task, type ToWorker } from "./task.ts";

// A worker that has served for this long has started well.
const steadyMs = 10_000;
const pauseMs = 200;
// While the database is unavailable.
const awayPauseMs = 5_000;
// How often in a row a worker may end before it has started well.
const failuresMax = 5;
// The stop of a worker has its own time limits, which are shorter.
const stopMs = 60_000;

type MemberEvents = {
  onMessage: (member: Member, message: FromWorker) => void;
  // The worker ended unexpectedly.
  onDeath: (member: Member) => void;
  // Starting it again would not help.
  onHopeless: (error: Error) => void;
};
type MemberOptions = MemberEvents & { task: Task; env: NodeJS.ProcessEnv; log: Logger; newRelay: (name: string) => LineRelay };
type Fault = Extract<FromWorker, { kind: "fault" }>;

// Why the service cannot go on, in words that need no stack.
class WorkerFault extends Error {
  constructor(message: string) {
    super(message);
    this.stack = message;
  }
}

type Exit = { code: number | null; signal: string | null };

// A process that could not be started, such as for want of memory, has no exit.
function exitOf(started: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    // `close` comes after the last line of standard error.
    started.once("close", (code, signal) => resolve({ code, signal }));
    started.once("error", () => {
      if (started.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

// One worker, and those that replace it after its death.
export class Member {
  readonly task: Task;
  readonly #options: MemberOptions;
  #worker: Worker | null = null;
  #fault: Fault | null = null;
  #failures = 0;
  #hasServed = false;
  #isStopping = false;
  #restart: NodeJS.Timeout | undefined;
  #steady: NodeJS.Timeout | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  isReady = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.task = options.task;
  }

  start(): void {
    const { task, env, log, newRelay } = this.#options;
    this.#fault = null;
    let worker: Worker;
    try {
      worker = cluster.fork({ ...env, [taskVariable]: JSON.stringify(task) });
    } catch (error) {
      log.error({ err: error, name: task.name }, "a worker could not be started");
      this.#end(null, null);
      return;
    }
    this.#worker = worker;
    const relay = newRelay(task.name);
    worker.process.stderr?.setEncoding("utf8").on("data", (text: string) => relay.write(text));
    worker.on("message", (message: FromWorker) => this.#receive(message));
    // Sending to a dying worker emits an error. Its exit is handled below.
    worker.on("error", () => {});
    this.#ended = exitOf(worker.process).then(({ code, signal }) => {
      relay.end();
      return this.#end(code, signal);
    });
  }

  send(message: ToWorker): void {
    if (this.#worker?.isConnected()) this.#worker.send(message, () => {});
  }

  // The worker finishes what it has begun.
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    clearTimeout(this.#steady);
    this.send({ kind: "stop" });
    const timer = setTimeout(() => this.#worker?.process.kill("SIGKILL"), stopMs);
    await this.#ended;
    clearTimeout(timer);
  }

  #receive(message: FromWorker): void {
    if (message.kind === "fault") this.#fault = message;
    if (message.kind === "ready") {
      this.isReady = true;
      this.#hasServed = true;
      this.#steady = setTimeout(() => (this.#failures = 0), steadyMs);
    }
    this.#options.onMessage(this, message);
  }

  #end(code: number | null, signal: string | null): void {
    const { log, onDeath, onHopeless, task } = this.#options;
    clearTimeout(this.#steady);
    this.isReady = false;
    this.#worker = null;
    if (this.#isStopping) return;
    const fault = this.#fault;
    onDeath(this);
    // The first start shows what is wrong with the settings. Later, the other workers go on serving.
    if (fault && !this.#hasServed)
      return onHopeless(fault.isOperators ? new ConfigFault(fault.text) : new WorkerFault(fault.text));
    // While the database is unavailable, starting fails, which says nothing about the worker.
    if (!fault?.isAway) this.#failures++;
    const about = { name: task.name, code, signal, ...(fault && { fault: fault.text }) };
    if (this.#failures >= failuresMax) {
      const why = fault?.text ?? `${signal ?? (code === null ? "no process" : `exit code ${code}`)}, see its log`;
      return onHopeless(
        new WorkerFault(
          `the worker ${task.name} ended ${failuresMax} times in a row before it had served for ${steadyMs / 1000} s (${why})`,
        ),
      );
    }
    const waitMs = fault?.isAway ? awayPauseMs : pauseMs * 2 ** (this.#failures - 1);
    log.error({ ...about, restart_in_ms: waitMs }, "a worker ended and is replaced");
    this.#restart = setTimeout(() => this.start(), waitMs);
  }
}
