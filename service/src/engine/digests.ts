// Collects the content of an e-mail when it is sent, so current permissions and erasures apply.
import { findRecipient, type Recipient } from "../db/notifications.ts";
import type { ClaimedMail } from "../db/notification-mails.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { findMine, listHappened, listNewNotices, readToldCases, type Happened } from "../db/told-cases.ts";
import { listViews } from "../db/views.ts";
import type { Digest } from "../domain/digest.ts";
import { toldDays } from "../domain/notification.ts";
import { scopesOfRole } from "../domain/role.ts";
import type { ToldCase } from "../domain/told-case.ts";
import { actorOf } from "../domain/user.ts";
import { listNewIn, toldTypes } from "./view-news.ts";

const dayMs = 86_400_000;

type Asked = { mail: ClaimedMail; publicUrl: string; now: string };
type About = Asked & { tx: Queryable; to: Recipient; happened: Happened[] };

// Undefined if the person must not get anything, for example because they were disabled.
export async function readDigest(database: Database, asked: Asked): Promise<(Digest & { to: string }) | undefined> {
  const { mail, publicUrl, now } = asked;
  const { tenant_id: tenantId, user_id, after_event: after, last_event: last } = mail;
  return database.transaction(async (tx) => {
    const to = await findRecipient(tx, mail);
    if (!to) return undefined;
    const scopes = scopesOfRole(to.role, to.role_scopes);
    const [mayList, mayRead] = [scopes.includes("read:cases"), scopes.includes("read:case")];
    const { mentions, handovers } = to.settings;
    const since = new Date(Date.parse(now) - toldDays * dayMs).toISOString();
    const happened = mayList ? await listHappened(tx, tenantId, { after, last, since, types: toldTypes }) : [];
    const isPersonal = mayRead && (mentions || handovers);
    const notices = isPersonal ? await listNewNotices(tx, tenantId, { user_id, after, last }) : [];
    const about = { ...asked, tx, to, happened };
    const idsOf = (kind: "mention" | "handover", isWanted: boolean) =>
      isWanted ? notices.filter((each) => each.kind === kind).map(({ case_id }) => case_id) : [];
    return {
      to: to.email,
      slug: to.slug,
      publicUrl,
      hasIds: to.notification_details === "ids",
      ...(await readNews(about)),
      mentions: idsOf("mention", mentions),
      handovers: idsOf("handover", handovers),
    };
  });
}

async function readNews(about: About): Promise<Pick<Digest, "views" | "overdue">> {
  const { tx, mail } = about;
  const overdueIds = await listOverdue(about);
  const views = await listViewNews(about);
  const ids = new Set([...overdueIds, ...views.flatMap((view) => view.ids)]);
  const told = new Map((await readToldCases(tx, mail.tenant_id, [...ids])).map((each) => [each.case_id, each]));
  const casesOf = (wanted: string[]) => wanted.map((id) => told.get(id)).filter((each): each is ToldCase => each !== undefined);
  return {
    overdue: casesOf(overdueIds),
    views: views.map(({ ids: wanted, ...view }) => ({ ...view, cases: casesOf(wanted) })),
  };
}

async function listOverdue({ tx, mail, to, happened }: About): Promise<string[]> {
  const { overdue } = to.settings;
  const ids = happened.filter(({ types }) => types.includes("case.overdue")).map(({ case_id }) => case_id);
  if (overdue === "off" || ids.length === 0) return [];
  if (overdue === "all") return ids;
  const mine = await findMine(tx, mail.tenant_id, { user_id: mail.user_id, actor: actorOf(to), role: to.role }, ids);
  return ids.filter((id) => mine.has(id));
}

type ViewNews = { view_id: string; name: string; ids: string[]; isSearched: boolean };

// A view that is no longer shared with the person, or was deleted, is left out. One that takes too long to search is not: otherwise
// an attack that slows the database down would go unreported.
async function listViewNews({ tx, mail, to, happened }: About): Promise<ViewNews[]> {
  const { tenant_id: tenantId, user_id } = mail;
  if (happened.length === 0 || to.settings.views.length === 0) return [];
  const visible = await listViews(tx, tenantId, `user:${user_id}`);
  const me = { actor: actorOf(to), person: { user_id, role: to.role } };
  const found: ViewNews[] = [];
  for (const view of visible.filter(({ view_id }) => to.settings.views.includes(view_id))) {
    const ids = await listNewIn(tx, tenantId, { view, me, happened });
    const { view_id, name } = view;
    if (ids === null) found.push({ view_id, name, ids: [], isSearched: false });
    else if (ids.length > 0) found.push({ view_id, name, ids, isSearched: true });
  }
  return found;
}
