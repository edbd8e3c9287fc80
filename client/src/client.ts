import { assessWith, type AssessOptions, type Assessed, type AssessedActivity } from "./assess.ts";
import { closeByDecision, type CloseOutcome, type Decide } from "./close.ts";
import { newKey } from "./key.ts";
import type { CallOptions, Input, ListId, ListItem, OperationId } from "./call.ts";
import { OperationMethods } from "./methods.ts";
import type { Operations } from "./operations.ts";
import { operations } from "./routes.ts";
import type { Assessment, Event } from "./types.ts";
import { Aborted, ProblemError } from "./problem.ts";
import { isPassing, pauseMs, type Attempt } from "./retries.ts";
import { readMessages, toFollowed, type FollowedEvent } from "./stream.ts";
import { Transport, type Credentials, type Hooks } from "./transport.ts";

export type ClientOptions = {
  // The service's address, without /v2.
  baseUrl: string;
  tenant: string;
  credentials: Credentials;
  // The number of attempts per call, including the first.
  attemptsMax?: number;
  // The time limit of one attempt. After it, the outcome of the request is unknown.
  timeoutMs?: number;
  hooks?: Hooks;
  // Replaces fetch, for example to send through a proxy.
  fetch?: typeof fetch;
};

type Following = { after?: number; types?: string[]; signal?: AbortSignal };

const attemptsDefault = 5;
const timeoutDefaultMs = 30_000;
const waitSeconds = 25;

// One typed method per operation of the API. Rejections are thrown as ProblemError; branch on its type.
export class CasehoundClient extends OperationMethods {
  readonly #transport: Transport;
  readonly #attemptsMax: number;
  readonly #timeoutMs: number;

  constructor(options: ClientOptions) {
    super();
    this.#transport = new Transport(options);
    this.#attemptsMax = options.attemptsMax ?? attemptsDefault;
    this.#timeoutMs = options.timeoutMs ?? timeoutDefaultMs;
  }

  // The methods call this. All attempts of one call share one idempotency key, which makes a repeat harmless.
  async call<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Operations[Id]["data"]> {
    const given: CallOptions & { params?: Record<string, string>; query?: object | undefined; body?: unknown } = input;
    const { method, path, wantsKey, isRepeatable } = operations[id];
    const key = wantsKey ? (given.idempotencyKey ?? newKey()) : null;
    const request = {
      id,
      method,
      path: `${fill(path, given.params ?? {})}${queryText(given.query)}`,
      body: given.body === undefined ? null : JSON.stringify(given.body),
      key,
      signal: given.signal ?? null,
      timeoutMs: given.timeoutMs ?? this.#timeoutMs,
    };
    for (let attempt = 1; ; attempt++) {
      try {
        // The operations table guarantees the type of the response.
        return (await this.#transport.send(request, attempt)) as Operations[Id]["data"];
      } catch (error) {
        const made: Attempt = { attempt, isRepeatable };
        const pause = attempt < this.#attemptsMax ? pauseMs(error, made) : null;
        if (pause === null) throw error;
        this.#transport.tell("onRetry", { id, method, attempt, error, pauseMs: pause, ...(key !== null && { key }) });
        await sleep(pause, given.signal);
        if (isContended(error)) await this.#expectSame(id, given, error);
      }
    }
  }

  // Yields every entry of a list, page by page.
  async *each<Id extends ListId>(id: Id, input: Input<Id>): AsyncGenerator<ListItem<Id>> {
    const name: string = operations[id].items;
    let cursor: string | undefined;
    do {
      const query = { ...(input as { query?: object }).query, ...(cursor !== undefined && { cursor }) };
      const page: { next_cursor: string | null } = await this.call(id, { ...input, query });
      yield* (page as unknown as Record<string, ListItem<Id>[]>)[name] ?? [];
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  // Opens the whole list as CSV, from one moment. If the connection is lost, reading its body fails, and nothing is retried: rows
  // that were read before could be read again.
  exportCsv<Id extends ListId>(id: Id, input: Input<Id>): Promise<Response> {
    const { params = {}, query, signal }: CallOptions & { params?: Record<string, string>; query?: object } = input;
    return this.#transport.open(`${fill(operations[id].path, params)}${queryText(query)}`, "text/csv", signal ?? null);
  }

  // Yields every change after `after`, each once and in order, and then new ones as they happen. Store the last `event_id`
  // together with its effects, and resume from there to miss nothing.
  async *events({ after = 0, types, signal }: Following = {}): AsyncGenerator<Event> {
    const hasLeft = () => signal?.aborted === true;
    for (let last = after; !hasLeft();) {
      const query = { after: last, wait: waitSeconds };
      const page = await this.listEvents(query, { ...(signal && { signal }) }).catch((error: unknown) => {
        if (hasLeft()) return null;
        throw error;
      });
      if (page === null) return;
      for (const event of page.events) if (!types || types.includes(event.type)) yield event;
      last = page.next_after;
    }
  }

  // Yields changes as they are pushed, and resumes after a lost connection. Yields `reset` if too many were missed. Ends with the
  // signal, or throws if the service rejects the request.
  async *follow({ after, types, signal }: Following = {}): AsyncGenerator<FollowedEvent> {
    let last = after;
    const hasLeft = () => signal?.aborted === true;
    for (let pauses = 1; !hasLeft(); pauses++) {
      try {
        const path = `/events/stream${queryText({ after: last, types: types?.join(",") })}`;
        for await (const message of readMessages(await this.#transport.open(path, "text/event-stream", signal ?? null))) {
          pauses = 1;
          last = message.id ?? last;
          if (message.data !== undefined) yield toFollowed(message);
        }
      } catch (error) {
        if (!isPassing(error) && !hasLeft()) throw error;
      }
      if (!hasLeft())
        await sleep(pauseMs(null, { attempt: Math.min(pauses, 8), isRepeatable: true }) ?? 0, signal).catch(() => {});
    }
  }

  // Reads the case, asks `decide`, and closes exactly the version that was read. If the case has changed in between, it asks
  // `decide` again, so nothing is closed that `decide` has not seen.
  closeCase(
    case_id: string,
    { decide, ...options }: { decide: Decide } & Omit<CallOptions, "idempotencyKey">,
  ): Promise<CloseOutcome> {
    return closeByDecision(this, case_id, decide, options);
  }

  // Sends an activity, and returns by the deadline what to do. If the service does not answer in time, the action is `otherwise`,
  // and `answered_by` says why.
  assess(activity: AssessedActivity, options: AssessOptions = {}): Promise<Assessed> {
    const { method, path } = operations.createAssessment;
    const send = (body: object, limits: { signal: AbortSignal; timeoutMs: number }) =>
      this.#transport.send({ id: "createAssessment", method, path, body: JSON.stringify(body), key: null, ...limits }, 1);
    return assessWith((body, limits) => send(body, limits) as Promise<Assessment>, activity, options);
  }

  // After contention, the same change may be resent only while the version it was decided on is still current.
  async #expectSame(
    id: OperationId,
    given: CallOptions & { params?: Record<string, string>; body?: unknown },
    error: ProblemError,
  ) {
    if (id !== "updateCase") return;
    const { case_version: current } = await this.getCase(
      given.params?.["case_id"] ?? "",
      given.signal ? { signal: given.signal } : {},
    );
    if (current !== (given.body as { case_version: number }).case_version) throw error.at(current);
  }
}

const isContended = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.type === "transaction-contended";

function fill(path: string, params: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // Otherwise it would address another resource. Dot segments are path steps even when escaped.
    if (value === "." || value === "..") throw new RangeError(`${name} must not be ${value}`);
    if (value === undefined || value === "") throw new RangeError(`${name} is missing`);
    return encodeURIComponent(value);
  });
}

function queryText(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(new Aborted(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}
