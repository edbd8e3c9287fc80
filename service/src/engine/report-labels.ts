import { listValueActivities } from "../db/label-work.ts";
import { lockRatedById, lockRatedOfOrders, saveLabels, type NewLabelRow, type RatedActivity } from "../db/labels.ts";
import { clockToleranceMs, timeOf, type RecordedActivity } from "../domain/activity.ts";
import { labelSources, type LabelSource } from "../domain/label.ts";
import type { Batch } from "./cases.ts";

const iso = (ms: number) => new Date(ms).toISOString();
const guessedHours = 72;
const guessedMax = 3;

// A fraud report from a server, and the case that it opened or joined.
export type Report = { activity: RecordedActivity; case_id: string | null };

// Labels what the reports name: an activity, or the activities of an order. A report that names neither labels the account's last
// payments and transfers, as guesses. Activity of the same batch must be stored already.
export async function labelReports({ tx, tenantId, now }: Batch, reports: Report[]): Promise<void> {
  for (const { activity: report, case_id } of reports) {
    const { source, found } = await reportedBy({ tx, tenantId }, report);
    const row = { source, weight: labelSources[source].weight, case_id, case_version: null, actor: "system" };
    const times = { labelled_at: now, known_at: new Date(timeOf(report)).toISOString() };
    const labels = found.map((activity): NewLabelRow => {
      const event_at = new Date(timeOf(activity)).toISOString();
      return { activity, y: 1, event_at, ...row, ...times };
    });
    await saveLabels(tx, tenantId, labels);
  }
}

type Found = { source: LabelSource; found: RatedActivity[] };

async function reportedBy({ tx, tenantId }: Pick<Batch, "tx" | "tenantId">, report: RecordedActivity): Promise<Found> {
  const { attributes = {}, website_account_id: account } = report;
  const order = report.order_id ?? attributes["order_id"];
  const id = attributes["activity_id"];
  if (typeof id === "string") return { source: "report", found: (await lockRatedById(tx, tenantId, [id])).get(id) ?? [] };
  if (typeof order === "string")
    return { source: "report", found: (await lockRatedOfOrders(tx, tenantId, [order])).get(order) ?? [] };
  if (account === undefined) return { source: "account_report", found: [] };
  const until = timeOf(report);
  const from = until - guessedHours * 60 * 60 * 1000;
  const span = { received_from: iso(from - clockToleranceMs), from: iso(from), until: iso(until), limit: guessedMax };
  return { source: "account_report", found: await listValueActivities(tx, tenantId, { account, ...span }) };
}
