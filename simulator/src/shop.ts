import type { Activity } from "@casehound/client";
import type { BrowserRequest, Delivery, FraudNote, TruthNote } from "./delivery.ts";
import type { Network } from "./network.ts";
import type { Till } from "./payments.ts";
import type { Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { SiteSettings } from "./sdk-request.ts";
import { Timeline } from "./timeline.ts";
import type { Outlet } from "./visit.ts";
import { hasServers } from "./voice.ts";

// An actor yields the time of its next action, and acts when it is resumed at that time.
export type Actor = Generator<number, void, void>;

type Due = Actor | BrowserRequest | TruthNote | FraudNote | { kind: "activity"; activity: Activity };

const batchMax = 500;

type ShopParts = {
  settings: SiteSettings;
  network: Network;
  people: Person[];
  startMs: number;
  till: Till | null;
  notesFrauds: boolean;
};

// Holds all actors and orders what they produce by arrival. Only active actors and visits are in memory, so a year needs no more
// memory than a day.
export class Shop implements Outlet {
  readonly settings: SiteSettings;
  readonly network: Network;
  readonly people: Person[];
  readonly startMs: number;
  readonly till: Till | null;
  readonly notesFrauds: boolean;
  hasBrowsers = true;
  readonly #due = new Timeline<Due>();
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(parts: ShopParts) {
    this.settings = parts.settings;
    this.network = parts.network;
    this.people = parts.people;
    this.startMs = parts.startMs;
    this.till = parts.till;
    this.notesFrauds = parts.notesFrauds;
  }

  // The number of planned items: people, attacks, and the rest of the visits in progress.
  get planned(): number {
    return this.#due.size;
  }

  enter(actor: Actor): void {
    const next = actor.next();
    if (next.done !== true) this.#add(next.value, actor);
  }

  post(request: BrowserRequest): void {
    this.#add(request.at_ms, request);
  }

  tell(atMs: number, activity: Activity): void {
    if (hasServers(this.settings.voice)) this.#add(Math.round(atMs), { kind: "activity", activity });
  }

  note(note: TruthNote | FraudNote): void {
    this.#add(note.at_ms, note);
  }

  // A person who has joined and has logged in at least this often.
  member(random: Random, nowMs: number, loginsMin = 0): Person | null {
    for (let tries = 0; tries < 200; tries++) {
      const person = random.pick(this.people);
      const isReserved = person.isReserved === true;
      if (!isReserved && person.joinsMs < nowMs && person.account.logins >= loginsMin) return person;
    }
    return null;
  }

  // Yields everything up to this time in order of arrival; later items stay for the next call. The shop's servers gather
  // activities for a while before sending them.
  *run({ untilMs, batchMs }: { untilMs: number; batchMs: number }): Generator<Delivery> {
    let batch: Activity[] = [];
    let batchEndsMs = Number.POSITIVE_INFINITY;
    while (this.#due.nextMs < untilMs) {
      if (batch.length > 0 && (this.#due.nextMs >= batchEndsMs || batch.length >= batchMax)) {
        yield { kind: "server", at_ms: Math.min(batchEndsMs, this.#due.nextMs), activities: batch };
        batch = [];
      }
      const due = this.#due.take();
      if (due === undefined) break;
      this.#nowMs = due.atMs;
      const { item } = due;
      if (!("kind" in item)) this.enter(item);
      else if (item.kind !== "activity") yield item;
      else {
        if (batch.length === 0) batchEndsMs = due.atMs + batchMs;
        batch.push(item.activity);
      }
    }
    if (batch.length > 0) yield { kind: "server", at_ms: Math.min(batchEndsMs, untilMs), activities: batch };
  }

  // The past has already been sent, so nothing can be planned before now.
  #add(atMs: number, due: Due): void {
    this.#due.add(Math.max(atMs, this.#nowMs), due);
  }
}
