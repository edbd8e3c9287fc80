import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { Semaphore } from "../../concurrency/semaphore.ts";
import { partOf } from "../../concurrency/share.ts";
import { insertActivities, newActivity, readActivity, type NewActivity } from "../../db/inbox.ts";
import type { Database } from "../../db/postgres/database.ts";
import { insertQuarantine } from "../../db/quarantine.ts";
import type { KeyedTenant } from "../../db/tenants.ts";
import { readEvent, type Delivery } from "../../domain/clickstream.ts";
import { Failure } from "../../domain/failure.ts";
import { excerptOfEvent, quarantineMeanings, type QuarantineReason, type Rejection } from "../../domain/quarantine.ts";
import { clientAddress } from "../http/address.ts";
import { admitBody, LargeBodies, readBody } from "../http/body.ts";
import { notUnpacked, readEvents, type Unpacked } from "./body.ts";
import { Intake, type CollectedRequest } from "./intake.ts";
import { identityCheck } from "../tokens/identity-token.ts";
import type { CollectorQuotas } from "./quotas.ts";
import type { Collected } from "../metrics.ts";
import { jsonMediaType } from "../operation.ts";
import { problemReply, toFailure, type Reply } from "../http/problem.ts";
import type { SystemCall } from "../http/system-operation.ts";

const bodyBytesMax = 2 * 1024 * 1024;
const entriesARequestMax = 10;
// Anybody can announce bodies under a tenant's key and never send them. This limit leaves room for the other tenants.
const largeBytesOfTenantMax = partOf(4 * bodyBytesMax, 2 * bodyBytesMax);

type CollectorOptions = {
  database: Database;
  findTenant: (key: string) => Promise<KeyedTenant | undefined>;
  trustedProxies: BlockList;
  isStopping: () => boolean;
  // Throws if the tenant's pages send too much.
  admit: (tenantId: string) => void;
  quotas: CollectorQuotas;
  onStored: (collected: Collected) => void;
  now: () => string;
  newId: (at: string) => string;
};

// Receives what browsers send. Its responses are those that the Clickstream SDK understands: 200 means stored, and anything else
// makes it send again. So bad events are quarantined and answered like good ones.
export class Collector {
  readonly #options: CollectorOptions;
  readonly #intake: Intake;
  readonly #large = new LargeBodies(largeBytesOfTenantMax);
  // One at a time: a small packed body may be large once it is unpacked. Tenants take turns, so a flood under one key, which
  // anybody can read in a page, does not hold up the others.
  readonly #unpacking = new Semaphore({ atOnceMax: 1, atOnceOfOneMax: 1 });

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#intake = new Intake((tenantId, parcels) => this.#store(tenantId, parcels));
  }

  preflight(request: IncomingMessage, call: SystemCall): Promise<Reply> {
    return answerPage(request, async (origin) => {
      // A request without an origin is not a preflight, so there is nothing to allow.
      if (origin === undefined) throw refused();
      await this.#requireTenant(call, origin);
      const allowed = {
        "access-control-allow-methods": "POST",
        // Firefox asks for user-agent, and sends no events unless it is allowed.
        "access-control-allow-headers": "content-type, user-agent",
      };
      return { status: 204, body: "", headers: allowed };
    });
  }

  collect(request: IncomingMessage, onBody: () => void, call: SystemCall): Promise<Reply> {
    return answerPage(request, async (origin) => {
      const tenant = await this.#requireTenant(call, origin);
      this.#options.admit(tenant.tenant_id);
      this.#intake.requireRoom(tenant.tenant_id);
      const take = async () => {
        const sent = { request, tenant, query: new URLSearchParams(call.query) };
        await this.#intake.add(tenant.tenant_id, await this.#receive(sent, onBody));
      };
      await admitBody(request, bodyBytesMax, take, { underWay: this.#large, key: tenant.tenant_id });
      return { status: 200, body: "{}", headers: { "content-type": jsonMediaType } };
    });
  }

  // A function of its own, so that the body is not held while the parcel waits to be stored.
  async #receive(sent: Sent, onBody: () => void): Promise<CollectedRequest> {
    const body = await readBody(sent.request, bodyBytesMax, onBody);
    return this.#parcelOf(await this.#unpack(body, sent), sent);
  }

  async #requireTenant(call: SystemCall, origin: string | undefined): Promise<KeyedTenant> {
    if (this.#options.isStopping()) throw unavailable("The service is shutting down.");
    const tenant = await this.#options.findTenant(call.params["app_key"] ?? "");
    // Servers and apps send no origin. The response does not reveal whether the key or the origin is unknown.
    if (!tenant || (origin !== undefined && !tenant.allowed_origins.includes(origin))) throw refused();
    return tenant;
  }

  #unpack(body: Buffer, { request, tenant, query }: Sent): Promise<Unpacked> {
    const isPacked = query.get("compression") === "gzip";
    if (!isPacked) return readEvents(body, query);
    const { quotas, trustedProxies } = this.#options;
    const sender = { tenantId: tenant.tenant_id, ip: clientAddress(request, trustedProxies) };
    return this.#unpacking.run(tenant.tenant_id, async () => {
      if (!quotas.mayUnpack(sender, tenant.identity_secrets.length > 0)) return notUnpacked();
      const unpacked = await readEvents(body, query);
      quotas.countUnpacked(sender, unpacked.unpackedBytes);
      return unpacked;
    });
  }

  #parcelOf(unpacked: Unpacked, from: Sent): CollectedRequest {
    const receivedAt = this.#options.now();
    const delivery = deliveryOf(unpacked, { ...from, receivedAt, trustedProxies: this.#options.trustedProxies });
    const isAdmitted = this.#options.quotas.admitterOf({ tenantId: from.tenant.tenant_id, ip: delivery.ip });
    const activities: NewActivity[] = [];
    const aside = new Map<QuarantineReason, unknown[]>();
    const putAside = (reason: QuarantineReason, event: unknown) => {
      const alike = aside.get(reason);
      if (alike) alike.push(event);
      else aside.set(reason, [event]);
    };
    for (const event of unpacked.events) {
      const read = readEvent(event, delivery);
      if (typeof read === "string" || !isAdmitted(read)) {
        putAside(typeof read === "string" ? read : "over-quota", event);
        continue;
      }
      activities.push(newActivity(read));
      if (read.browser?.signs?.includes("foreign-tenant-id")) putAside("foreign-tenant-id", event);
    }
    const rejections = unpacked.faults.map((fault): Rejection => ({ ...fault, received_at: receivedAt }));
    for (const [reason, events] of aside) rejections.push(...rejectionsOf(reason, events, receivedAt));
    return { activities, rejections, bytes: unpacked.bytes };
  }

  async #store(tenantId: string, parcels: CollectedRequest[]): Promise<void> {
    const { database, newId, onStored } = this.#options;
    const activities = parcels.flatMap((parcel) => parcel.activities);
    const collected = await database.transaction(async (tx): Promise<Collected> => {
      const { accepted, duplicates, reused } = await insertActivities(tx, tenantId, activities);
      const again = rejectionsOf("id-reused", reused.map(withoutPerson), reused[0]?.received_at ?? "");
      const rejections = [...parcels.flatMap((parcel) => parcel.rejections), ...again];
      const entries = rejections.map((each) => ({ ...each, quarantine_id: newId(each.received_at) }));
      await insertQuarantine(tx, tenantId, entries);
      return { accepted, duplicates: duplicates - reused.length, rejections };
    });
    onStored(collected);
  }
}

type Sent = { request: IncomingMessage; tenant: KeyedTenant; query: URLSearchParams };
type From = Sent & { receivedAt: string; trustedProxies: BlockList };

function deliveryOf({ isHashWrong }: Unpacked, { request, tenant, query, receivedAt, trustedProxies }: From): Delivery {
  const { headers } = request;
  const uploadedMs = Number(query.get("upload_timestamp") ?? "");
  const ip = clientAddress(request, trustedProxies);
  const text = (name: string) => (typeof headers[name] === "string" && headers[name] !== "" ? headers[name] : undefined);
  const [agent, brands, platform] = [text("user-agent"), text("sec-ch-ua"), text("sec-ch-ua-platform")];
  const language = text("accept-language");
  return {
    tenant,
    received_at: receivedAt,
    isHashWrong,
    checkIdentity: identityCheck(tenant.identity_secrets, receivedAt),
    agent: {
      ...(agent !== undefined && { user_agent: agent }),
      ...(brands !== undefined && { brands }),
      ...(platform !== undefined && { platform }),
    },
    ...(uploadedMs > 0 && Number.isSafeInteger(uploadedMs) && { uploaded_ms: uploadedMs }),
    ...(ip !== undefined && { ip }),
    ...(language !== undefined && { accept_language: language }),
  };
}

// Leaves out account and address. The tenant's policy governs those, and an erasure must remove them.
function withoutPerson(activity: NewActivity) {
  const { activity_id, type, occurred_at, attributes } = readActivity(activity);
  return { event_id: activity_id, event_type: type, timestamp: occurred_at, attributes };
}

// Keeps the first few events. The last of them also counts the rest.
function rejectionsOf(reason: QuarantineReason, events: unknown[], receivedAt: string): Rejection[] {
  const shown = events.slice(0, entriesARequestMax);
  const rest = events.length - shown.length;
  return shown.map((event, index) => {
    const more = rest > 0 && index === shown.length - 1 ? ` The request had ${rest} more such events.` : "";
    const count = more === "" ? 1 : 1 + rest;
    return {
      reason,
      detail: `${quarantineMeanings[reason]}${more}`,
      excerpt: excerptOfEvent(event),
      received_at: receivedAt,
      count,
    };
  });
}

// Lets the page read the response. Every response has it except the rejection of an origin, even if the tenant could not be
// looked up. Such a response only says what went wrong, and a page that cannot read it would assume a wrong address.
export function readableHeaders({ headers: { origin } }: IncomingMessage): Record<string, string> {
  const vary = { vary: "Origin" };
  if (origin === undefined) return vary;
  return { "access-control-allow-origin": origin, "access-control-allow-credentials": "true", ...vary };
}

async function answerPage(request: IncomingMessage, work: (origin: string | undefined) => Promise<Reply>): Promise<Reply> {
  const readable = readableHeaders(request);
  try {
    const reply = await work(request.headers.origin);
    return { ...reply, headers: { ...reply.headers, ...readable } };
  } catch (error) {
    const failure = asPageFailure(error);
    const reply = problemReply(failure);
    const isRefusal = failure.code === "access-denied";
    return { ...reply, headers: { ...reply.headers, ...(isRefusal ? { vary: "Origin" } : readable) }, fault: failure };
  }
}

function refused(): Failure {
  return new Failure("access-denied", "The key does not exist, or it does not allow pages of this origin.");
}

function unavailable(detail: string, cause?: unknown): Failure {
  return new Failure("service-unavailable", detail, { headers: { "retry-after": "5" }, cause });
}

// A page handles every storage failure the same way: it keeps the events and sends them again.
function asPageFailure(error: unknown): Failure {
  const isOfStore =
    error instanceof Failure && ["bad-gateway", "rate-limited", "transaction-contended", "internal-error"].includes(error.code);
  return isOfStore ? unavailable("The events cannot be stored now. Send them again later.", error) : toFailure(error);
}
