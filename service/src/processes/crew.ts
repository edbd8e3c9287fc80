import cluster from "node:cluster";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Snapshot } from "../api/metrics.ts";
import { Places } from "../concurrency/places.ts";
import type { LogOutput } from "../log.ts";
import { LineRelay } from "./line-relay.ts";
import { Member } from "./member.ts";
import type { FromWorker, Task } from "./task.ts";

// A worker that is too busy to answer within this time counts with its last figures.
const measureMs = 2_000;

type CrewOptions = {
  tasks: Task[];
  env: NodeJS.ProcessEnv;
  log: Logger;
  output: LogOutput;
  // If true, output of a worker that is not JSON is wrapped in a JSON line.
  isJson: boolean;
  // Called once, when all are built and none listens yet.
  onBuilt: () => Promise<void>;
  onDeath: (name: string, last: Snapshot | undefined) => void;
};

const isEngine = ({ task }: Member) => task.roles.includes("engine");

// The workers of one service. Connections go to them in turn.
export class Crew {
  readonly #options: CrewOptions;
  readonly #members: Member[];
  readonly #built = new Set<Member>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #broken = Promise.withResolvers<Error>();
  readonly #last = new Map<Member, Snapshot>();
  readonly #asked = new Map<number, () => void>();
  readonly #places = new Places();
  readonly #taken = new Map<Member, { limit: string; key: string }[]>();
  #nextId = 0;
  #mayListen = false;

  constructor(options: CrewOptions) {
    this.#options = options;
    const { env, log, output, isJson } = options;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({
      exec: fileURLToPath(new URL("worker.ts", import.meta.url)),
      args: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // JSON has no NaN, which some gauges are.
      serialization: "advanced",
    });
    const newRelay = (worker: string) => {
      const onStray = (text: string) => log.error({ worker, text }, "a worker wrote to standard error");
      return new LineRelay({ output, onStray: isJson ? onStray : null });
    };
    const shared = {
      env,
      log,
      newRelay,
      onMessage: (member: Member, message: FromWorker) => this.#receive(member, message),
      onDeath: (member: Member) => this.#bury(member),
      onHopeless: (error: Error) => {
        this.#ready.reject(error);
        this.#broken.resolve(error);
      },
    };
    this.#members = options.tasks.map((task) => new Member({ ...shared, task }));
    this.#ready.promise.catch(() => {});
  }

  // Resolves if the service cannot go on, because a worker ends again and again.
  get broken(): Promise<Error> {
    return this.#broken.promise;
  }

  get readyCount(): number {
    return this.#members.filter(({ isReady }) => isReady).length;
  }

  // Resolves when all workers are ready.
  start(): Promise<void> {
    for (const member of this.#members) member.start();
    return this.#ready.promise;
  }

  // Those that serve requests stop first, because they may wait for the engine.
  async stop(): Promise<void> {
    await Promise.all(this.#members.filter((member) => !isEngine(member)).map((member) => member.stop()));
    await Promise.all(this.#members.filter(isEngine).map((member) => member.stop()));
  }

  async measure(): Promise<Snapshot[]> {
    await Promise.all(this.#members.filter(({ isReady }) => isReady).map((member) => this.#measure(member)));
    return [...this.#last.values()];
  }

  #measure(member: Member): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve();
      };
      const timer = setTimeout(done, measureMs);
      this.#asked.set(id, done);
      member.send({ kind: "measure", id });
    });
  }

  #receive(member: Member, message: FromWorker): void {
    if (message.kind === "built") this.#admit(member);
    if (message.kind === "ready" && this.readyCount === this.#members.length) this.#ready.resolve();
    if (message.kind === "measured") {
      this.#last.set(member, message.snapshot);
      this.#asked.get(message.id)?.();
    }
    if (message.kind === "counts") for (const other of this.#members) if (other !== member && other.isReady) other.send(message);
    if (message.kind === "ask") {
      const isGranted = this.#places.enter(message.wanted);
      if (isGranted) this.#takenBy(member).push(message.wanted);
      member.send({ kind: "answer", id: message.id, isGranted });
    }
    if (message.kind === "leave") this.#leave(member, message);
  }

  // At the first start, all begin to listen together. A worker that replaces another one need not wait.
  #admit(member: Member): void {
    if (this.#mayListen) return member.send({ kind: "listen" });
    this.#built.add(member);
    if (this.#built.size < this.#members.length) return;
    this.#mayListen = true;
    const listen = () => {
      for (const each of this.#built) each.send({ kind: "listen" });
    };
    this.#options.onBuilt().then(listen, this.#ready.reject);
  }

  #takenBy(member: Member): { limit: string; key: string }[] {
    const taken = this.#taken.get(member) ?? [];
    this.#taken.set(member, taken);
    return taken;
  }

  #leave(member: Member, left: { limit: string; key: string }): void {
    const taken = this.#takenBy(member);
    const at = taken.findIndex(({ limit, key }) => limit === left.limit && key === left.key);
    if (at === -1) return;
    taken.splice(at, 1);
    this.#places.leave(left.limit, left.key);
  }

  #bury(member: Member): void {
    this.#built.delete(member);
    for (const { limit, key } of this.#takenBy(member)) this.#places.leave(limit, key);
    this.#taken.delete(member);
    this.#options.onDeath(member.task.name, this.#last.get(member));
    this.#last.delete(member);
  }
}
