import type { Activity, Payment } from "../domain/activity.ts";
import type { ListedRow, ListType } from "../domain/list.ts";
import { storedSource, type Source } from "../domain/source.ts";
import { instrumentSubject } from "../domain/subject.ts";
import { featureOf } from "./draft.ts";
import type { EnrichedActivity } from "./scene.ts";

// The values of an event by the type of list in which they are looked up. `keptIp` is the address as the tenant's ip_policy stores
// it, if that is another text: an entry that was added from a case has that form.
type ListedValues = Partial<Record<ListType | "keptIp", string>>;
export type ListedEvent = { source: Source; values: ListedValues };

type Named = Pick<Activity, "website_account_id" | "device_id" | "ip" | "user_agent" | "attributes"> & Payment;
type Derived = { source: Source; country: string; asn: number; keptIp?: string | undefined };

// The account is the one that the activity counts for, not one that an unverified page names. Payees and instruments count only if
// a server reported them.
function valuesOf(named: Named, { source, country, asn, keptIp }: Derived): ListedValues {
  const { website_account_id, device_id, ip, user_agent, payee_id, attributes } = named;
  const values: ListedValues = {};
  if (website_account_id !== undefined) values.account = website_account_id;
  if (device_id !== undefined) values.device = device_id;
  if (ip !== undefined) values.ip = ip;
  if (keptIp !== undefined && keptIp !== ip) values.keptIp = keptIp;
  if (country !== "") values.country = country;
  if (asn !== 0) values.asn = String(asn);
  if (user_agent !== undefined) values.user_agent = user_agent;
  const email = attributes?.["email"];
  if (typeof email === "string") values.email = values.email_domain = email;
  if (source !== "server") return values;
  const instrument = instrumentSubject(named);
  if (payee_id !== undefined) values.payee = payee_id;
  if (instrument !== null) values.instrument = instrument.slice("instrument:".length);
  return values;
}

export function listedEvent({ activity, source, country, asn }: EnrichedActivity, keptIp: string | undefined): ListedEvent {
  return { source, values: valuesOf(activity, { source, country, asn, keptIp }) };
}

// The same values, as the log has them.
export function listedRow(row: ListedRow): ListedEvent {
  // Written by the engine.
  const stored = JSON.parse(row.document) as { attributes?: Activity["attributes"]; payment?: Payment; source?: string };
  const source = storedSource(row.origin, stored.source);
  const named = {
    ...stored.payment,
    ...(row.website_account_id !== null && { website_account_id: row.website_account_id }),
    ...(row.device_id !== null && { device_id: row.device_id }),
    ...(row.ip !== null && { ip: row.ip }),
    ...(row.user_agent !== null && { user_agent: row.user_agent }),
    ...(stored.attributes && { attributes: stored.attributes }),
  };
  const country = String(featureOf(row.decision, "event.country") ?? "");
  return { source, values: valuesOf(named, { source, country, asn: Number(featureOf(row.decision, "event.asn") ?? 0) }) };
}
